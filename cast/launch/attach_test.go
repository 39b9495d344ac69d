package launch

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAttachLine runs the command line that attaches a login to an agent in each login shell. It ends with the agent, and with the
// login.
func TestAttachLine(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "bsd-csh", "busybox sh", "dash", "fish", "mksh", "tcsh", "zsh"} {
		for _, first := range []string{"agent", "login"} {
			t.Run(shell+", "+first+" ends", func(t *testing.T) {
				t.Parallel()
				words := strings.Fields(shell)
				cmd := exec.Command(needs(t, words[0]), append(words[1:], "-c", attachLine)...)
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				s := &Server{Dir: t.TempDir(), attachable: true}
				s.hello = func(out io.Writer) error { return WriteRecord(out, "hello") }
				fmt.Fprintf(in, "%s\nmessage\n", s.Dir)
				var r io.Reader
				var w io.WriteCloser
				for end := time.Now().Add(waitTimeout); w == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
					r, w = s.Attached()
				}
				if w == nil {
					t.Fatal("not attached")
				}
				if line, err := bufio.NewReader(r).ReadString('\n'); line != "message\n" {
					t.Errorf("the agent received %q, %v", line, err)
				}
				record, err := newRecordReader(out).next()
				if err != nil || string(record) != "\"hello\"\n" {
					t.Errorf("the caster received %q, %v", record, err)
				}
				if first == "login" {
					_ = in.Close()
					if _, err := r.Read(make([]byte, 1)); err != io.EOF {
						t.Errorf("the agent received %v", err)
					}
				}
				_ = w.Close()
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
				if left, err := os.ReadDir(s.Dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
	t.Run("agent exits", func(t *testing.T) {
		t.Parallel()
		s := &Server{Dir: filepath.Join(t.TempDir(), "[1]"), attachable: true}
		if err := os.Mkdir(s.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", attachLine)
		cmd.Stdin = strings.NewReader(s.Dir + "\n")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(waitTimeout); len(s.fifos("out")) == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond) // until the login opens them; if it is later, it ends in any case
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		ended := time.AfterFunc(waitTimeout, func() { t.Error("the login waits"); _ = cmd.Process.Kill() })
		defer ended.Stop()
		_ = cmd.Wait() // fails if it opens a FIFO later
	})
	t.Run("no agent", func(t *testing.T) {
		t.Parallel()
		cmd := exec.Command("sh", "-c", attachLine)
		cmd.Stdin = strings.NewReader(t.TempDir() + "/none\n")
		if out, err := cmd.CombinedOutput(); err == nil || string(out) != "mob: the agent has exited\n" {
			t.Errorf("%q, %v", out, err)
		}
	})
}
