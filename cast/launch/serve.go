package launch

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mobgrid/mob/mob/quota"
)

const (
	// dirVariable is the environment variable with the path of the program's directory.
	dirVariable = "MOB_AGENT_DIR"
	// attachVariable is set if another login may connect to the program, see [Server.Attached].
	attachVariable = "MOB_AGENT_ATTACH"
	// maxPath bounds the path in a hello, in bytes.
	maxPath = 64
	// requestTimeout bounds the time until a neighbor has sent its request.
	requestTimeout = 10 * time.Second
	// maxConns bounds the connections to the server, which anyone who reaches the host may open.
	maxConns = 1024
	// archiveName is the name of the archive in the directory. It is not there if the host had the program.
	archiveName = "a"
)

// Hello is the first message of the program.
type Hello struct {
	// Platform is its GOOS/GOARCH.
	Platform string `json:"platform"`
	// Path is the path of the archive on its HTTP server, without a slash, or empty without a server.
	Path string `json:"path,omitempty"`
	// Addrs are the addresses of the server for neighbors: host:port as in a URL.
	Addrs []string `json:"addrs,omitempty"`
	// Dir is its directory, if another login may connect to it.
	Dir string `json:"dir,omitempty"`
}

// isServer reports whether neighbors may download there. The path and addresses become part of messages to them, so a
// malicious host must not add words.
func (h *Hello) isServer() bool {
	for _, a := range h.Addrs {
		if ap, err := netip.ParseAddrPort(a); err != nil || ap.String() != a || ap.Addr().Zone() != "" {
			return false
		}
	}
	odd := strings.ContainsFunc(h.Path, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	return h.Path != "" && !odd && len(h.Path) <= maxPath && len(h.Addrs) > 0 && len(h.Addrs) <= MaxAddrs
}

// Server is the running program on a host. It serves its archive to neighbors.
type Server struct {
	// Dir is a directory for the files of the program. Close removes it, and so does the script if the program was killed.
	Dir string

	hello      func(out io.Writer) error // writes the hello
	attachable bool
	archive    func() (*io.SectionReader, error)
	offer      atomic.Pointer[[]byte]
	file       *os.File     // the archive that the script wrote, or the program
	http       *http.Server // nil if it cannot listen
	serving    sync.WaitGroup
}

// Serve starts the program on a host: it writes the hello to out, and serves the archive until Close. It removes the files that the
// script wrote; the archive remains open.
func Serve(out io.Writer) (*Server, error) {
	dir, attachable := os.Getenv(dirVariable), os.Getenv(attachVariable) != ""
	for _, name := range []string{dirVariable, attachVariable} { // child processes do not need them
		if err := os.Unsetenv(name); err != nil {
			return nil, err
		}
	}
	dir, root, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &Server{Dir: dir, attachable: attachable}
	if err = s.open(root); errors.Is(err, fs.ErrNotExist) {
		err = s.openSelf()
	}
	if err == nil {
		err = removeFiles(root)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	hello := &Hello{Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if l, err := net.Listen("tcp", ":0"); err == nil { // else neighbors download elsewhere
		hello.Path = rand.Text()
		for _, ip := range Addrs() {
			hello.Addrs = append(hello.Addrs, netip.AddrPortFrom(ip, uint16(l.Addr().(*net.TCPAddr).Port)).String())
		}
		s.http = s.newHTTP(hello.Path)
		s.serving.Go(func() { _ = s.http.Serve(quota.Limit(l, quota.NewShared[netip.Addr](maxConns))) })
	}
	if attachable {
		hello.Dir = dir
	}
	s.hello = func(out io.Writer) error { return WriteRecord(out, map[string]*Hello{"hello": hello}) }
	if err := s.hello(out); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the archive that the script wrote to the directory.
func (s *Server) open(root *os.Root) (err error) {
	if s.file, err = root.Open(archiveName); err != nil {
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

// removeFiles removes the files of the script from the directory: the archive, the program, and the file of its test.
func removeFiles(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		err = errors.Join(err, root.Remove(e.Name()))
	}
	return err
}

// openSelf opens the file of this program, which [removeFiles] may remove. It is packed when a neighbor requests the archive.
func (s *Server) openSelf() (err error) {
	if s.file, err = os.Open("/proc/self/exe"); err != nil { // exists on Linux, even if the file was removed
		path, _ := os.Executable()
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
	mux.HandleFunc("GET /"+path+offerPath, func(w http.ResponseWriter, _ *http.Request) {
		if b := s.offer.Load(); b != nil {
			_, _ = w.Write(*b)
		}
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: requestTimeout,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
	}
	server.SetKeepAlivesEnabled(false) // a neighbor makes one request
	return server
}

// offerPath follows the path of the archive.
const offerPath = "/offer"

// Offer serves b to neighbors, at [Process.Offers].
func (s *Server) Offer(b []byte) { s.offer.Store(&b) }

// Attachable reports whether another login may connect to the program if it loses the caster.
func (s *Server) Attachable() bool { return s.attachable }

// Close closes the server and removes the directory.
func (s *Server) Close() error {
	var err error
	if s.http != nil {
		err = s.http.Close()
		s.serving.Wait()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	for _, fifo := range s.hold() {
		defer fifo.Close()
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
