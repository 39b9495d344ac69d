package command

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestSecondSignal sends a signal twice, as timeout(1) does: the command still cleans up. Otherwise it kills the test.
func TestSecondSignal(t *testing.T) {
	cleaned := false
	root := &cobra.Command{Use: "test", PersistentPreRun: EndOnHangup, RunE: func(cmd *cobra.Command, _ []string) error {
		began := time.Now()
		send := func(s syscall.Signal) error {
			if time.Since(began) > secondSignal/2 {
				t.Skip("the machine stalls, and a signal may kill the test")
			}
			return syscall.Kill(os.Getpid(), s)
		}
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			if err := send(s); err != nil {
				return err
			}
			<-cmd.Context().Done()
			time.Sleep(50 * time.Millisecond) // what handles the first signal has run
			if err := send(s); err != nil {
				return err
			}
		}
		time.Sleep(50 * time.Millisecond)
		cleaned = true
		return nil
	}}
	env := Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: os.Getenv}
	if status := env.Run(root); !cleaned {
		t.Errorf("exit status %d", status)
	}
}
