package mob_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumented wants a comment at every package and every exported name.
func TestDocumented(t *testing.T) {
	for _, p := range packages(t) {
		documented := false
		for _, f := range p.parse(t) {
			documented = documented || f.ast.Doc != nil
			for _, d := range f.ast.Decls {
				f.checkDecl(t, d)
			}
		}
		if !documented {
			t.Errorf("package %s has no comment", p.name())
		}
	}
}

func (f *file) checkDecl(t *testing.T, d ast.Decl) {
	t.Helper()
	missing := func(n ast.Node, name string) { t.Errorf("%s: %s has no comment", f.at(n), name) }
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || exportedReceiver(d.Recv)) && d.Doc == nil {
			missing(d, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
					missing(s, s.Name.Name)
				}
			case *ast.ValueSpec: // a group may have one comment for all, or one each behind the value
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						missing(s, n.Name)
					}
				}
			}
		}
	}
}

func exportedReceiver(recv *ast.FieldList) bool {
	of := recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.Ident:
			return token.IsExported(x.Name)
		default:
			return false
		}
	}
}

// TestDocuments follows the links between the documents, so that none dangles.
func TestDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	var documents []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, found...)
	}
	if len(documents) == 0 {
		t.Fatal("no documents")
	}
	for _, d := range documents {
		text, err := os.ReadFile(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(d), m[1])); err != nil {
				t.Errorf("%s: link to %s: %v", d, m[1], err)
			}
		}
	}
}
