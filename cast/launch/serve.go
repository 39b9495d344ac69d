package launch

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// dirVariable and archiveVariable are the environment variables in which the script passes to the program the
	// paths of its directory and of the archive, which is empty if the host had the program.
	dirVariable     = "MOB_AGENT_DIR"
	archiveVariable = "MOB_AGENT_ARCHIVE"
	// maxAddrs bounds the addresses in a hello, and maxPath the path, in bytes.
	maxAddrs = 8
	maxPath  = 64
	// requestTimeout is how long a neighbour may take to say what it wants.
	requestTimeout = 10 * time.Second
)

// Hello is what the program says first.
type Hello struct {
	// Platform is its system and architecture, as Go names them, with a slash between.
	Platform string `json:"platform"`
	// Path is that of the archive on its HTTP server, without a slash. It is empty if there is no
	// server.
	Path string `json:"path,omitempty"`
	// Addrs are where neighbours may find the server: host:port as in a URL.
	Addrs []string `json:"addrs,omitempty"`
}

// isServer reports whether neighbours may be sent there. What it names goes into their messages, so a host
// that lies must not add some of its own.
func (h *Hello) isServer() bool {
	for _, a := range h.Addrs {
		if ap, err := netip.ParseAddrPort(a); err != nil || ap.String() != a || ap.Addr().Zone() != "" {
			return false
		}
	}
	odd := strings.ContainsFunc(h.Path, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	return h.Path != "" && !odd && len(h.Path) <= maxPath && len(h.Addrs) > 0 && len(h.Addrs) <= maxAddrs
}

// Server is the running program on a host. It serves its archive to neighbors.
type Server struct {
	// Dir is a folder for the files of the program. Close removes it, and so does the script if the
	// program was killed.
	Dir string

	archive func() (*io.SectionReader, error)
	file    *os.File     // the archive that the script wrote, or the program
	http    *http.Server // nil if it cannot listen
	serving sync.WaitGroup
}

// Serve begins the program on a host: it says hello on out and serves the archive until Close. What
// the script uploaded it removes from the disk at once: the archive stays open.
func Serve(out io.Writer) (*Server, error) {
	dir, path := os.Getenv(dirVariable), os.Getenv(archiveVariable)
	for _, name := range []string{dirVariable, archiveVariable} { // they are not for commands that the program runs
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	dir, root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &Server{Dir: dir}
	if path != "" {
		err = s.open(root, filepath.Base(path))
	} else {
		err = s.openSelf()
	}
	if err == nil {
		err = removeFiles(root)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	hello := &Hello{Platform: platform{runtime.GOOS, runtime.GOARCH}.String()}
	if l, err := net.Listen("tcp", ":0"); err == nil { // else neighbours get it from others
		hello.Path = rand.Text()
		hello.Addrs = addrs(l.Addr().(*net.TCPAddr).Port)
		s.http = s.newHTTP(hello.Path)
		s.serving.Go(func() { _ = s.http.Serve(l) })
	}
	if err := WriteRecord(out, &struct {
		Hello *Hello `json:"hello"`
	}{hello}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the archive that the script wrote to the directory.
func (s *Server) open(root *os.Root, name string) (err error) {
	if s.file, err = root.Open(name); err != nil {
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	archive := io.NewSectionReader(s.file, 0, info.Size())
	s.archive = func() (*io.SectionReader, error) { return archive, nil }
	return nil
}

// removeFiles removes the files that the script has put into the directory: the archive, the program, and that
// which it tried to run.
func removeFiles(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		err = errors.Join(err, root.Remove(name))
	}
	return err
}

// openSelf opens this program, of which an archive is packed when a neighbor asks for it. Its file may be one of those
// that [removeFiles] removes.
func (s *Server) openSelf() (err error) {
	if s.file, err = os.Open("/proc/self/exe"); err != nil { // Linux has it even when the file was removed
		path, err := os.Executable()
		if err != nil {
			return err
		}
		if s.file, err = os.Open(path); err != nil {
			return err
		}
	}
	s.archive = sync.OnceValues(func() (*io.SectionReader, error) {
		a, err := pack(s.file)
		if err != nil {
			return nil, err
		}
		return io.NewSectionReader(bytes.NewReader(a.data), 0, int64(len(a.data))), nil
	})
	return nil
}

func (s *Server) newHTTP(path string) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+path, func(w http.ResponseWriter, r *http.Request) {
		archive, err := s.archive()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/gzip")
		http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(archive, 0, archive.Size()))
	})
	return &http.Server{
		Handler: mux, ReadHeaderTimeout: requestTimeout, IdleTimeout: requestTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
	}
}

// addrs are the addresses of this machine that neighbours may reach, with a port: IPv4 first, as IPv6 is often set up
// in part. It has those of loopback only if there are no others.
func addrs(port int) []string {
	all, _ := net.InterfaceAddrs() // without any there is no server
	var near, far []netip.Addr
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		ip := prefix.Addr().Unmap()
		switch {
		case err != nil || ip.IsLinkLocalUnicast():
		case ip.IsLoopback():
			near = append(near, ip)
		default:
			far = append(far, ip)
		}
	}
	if len(far) == 0 {
		far = near
	}
	slices.SortStableFunc(far, func(a, b netip.Addr) int { return cmp.Compare(a.BitLen(), b.BitLen()) })
	var out []string
	for _, ip := range far[:min(len(far), maxAddrs)] {
		out = append(out, netip.AddrPortFrom(ip, uint16(port)).String())
	}
	return out
}

// Close ends the server and removes the folder.
func (s *Server) Close() error {
	var err error
	if s.http != nil {
		err = s.http.Close()
		s.serving.Wait()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
