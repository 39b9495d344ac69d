package browser

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// programs builds mob and mobd once, and returns their directory.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "mob-browser")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cli/mob", "./cli/mobd")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// server is a running program with a page.
type server struct {
	data  string
	line  string // the first line of its standard output
	url   string // of its page
	token string
}

// start runs a program until the test ends.
func start(t *testing.T, name string, args ...string) *server {
	t.Helper()
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{data: t.TempDir()}
	cmd := exec.Command(filepath.Join(bin, name), append(args, "--data", s.data, "--http", "127.0.0.1:0")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if b, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s %v:\n%s", name, args, b)
		}
		log.Close()
	})
	s.line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s ended: %v", name, err)
	}
	s.line = strings.TrimSpace(s.line)
	go io.Copy(io.Discard, out)
	b, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "page at ")
	if !ok {
		t.Fatalf("%s names no page:\n%s", name, b)
	}
	var file string
	s.url, rest, _ = strings.Cut(rest, ", its token in ")
	file, _, _ = strings.Cut(rest, "\n")
	token, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

// startNode runs mobd.
func startNode(t *testing.T, cluster string, tracker *server) *server {
	t.Helper()
	return start(t, "mobd", "--cluster", cluster, "--listen", "/ip4/127.0.0.1/tcp/0", "--tracker", tracker.line)
}

// mob runs a command of a node and returns the last line that it prints.
func (s *server) mob(t *testing.T, args ...string) string {
	t.Helper()
	line, err := s.run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// run is like mob, for any goroutine.
func (s *server) run(args ...string) (string, error) {
	out, err := s.output(args...)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], err
}

// output runs a command of a node and returns what it prints.
func (s *server) output(args ...string) ([]byte, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(bin, "mob"), append([]string{"--data", s.data}, args...)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("mob %v: %w\n%s", args, err, errs.String())
	}
	return out, nil
}

// received returns the payload received over the WAN, in bytes.
func (s *server) received(t *testing.T) (n int64) {
	t.Helper()
	out, err := s.output("status", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Transfers []struct {
			Traffic struct {
				WANIn int64 `json:"wan_in"`
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	for _, tr := range report.Transfers {
		n += tr.Traffic.WANIn
	}
	return n
}

// content writes a file that nothing compresses.
func content(t *testing.T, name string, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{byte(size)}), size); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(t *testing.T, path string) (out [sha256.Size]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	copy(out[:], h.Sum(nil))
	return out
}
