package store

import "io/fs"

// lookAhead is how many files a looker looks at by one call.
const lookAhead = 64

// looker is stat for the files of a tree in ascending order. It looks at some of the next files
// too, which takes a third of the calls for neighbours in a directory.
type looker struct {
	t     *tree
	first int
	infos []fs.FileInfo // of the files from first on
}

// stat is the tree's stat. The answer may be as old as the one to the lookAhead calls before.
func (l *looker) stat(file int) (fs.FileInfo, error) {
	if file < l.first || file >= l.first+len(l.infos) {
		l.look(file)
	}
	if info := l.infos[file-l.first]; info != nil && info.Mode().IsRegular() {
		return info, nil
	}
	return l.t.stat(file)
}

// look looks at the files from first on, up to padding.
func (l *looker) look(first int) {
	names := []string{l.t.fileName(first)}
	for file := first + 1; file < min(first+lookAhead, l.t.layout.files()) && !l.t.layout.pad(file); file++ {
		names = append(names, l.t.fileName(file))
	}
	l.first, l.infos = first, l.t.root.LstatAll(names)
}
