package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mobgrid/mob/interop/netns"
)

// TestMain runs the tests, or a member.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[2] == "--member" {
		member := new(Member)
		if err := errors.Join(json.Unmarshal([]byte(os.Args[3]), member), member.Run(context.Background())); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestOperations runs each operation with each system, and counts the copies that enter the cluster of the root.
func TestOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	for _, system := range Systems() {
		t.Run(system, func(t *testing.T) {
			if err := Missing(system); err != nil {
				t.Skip(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			const bytes = 100_000
			for _, o := range []Operation{
				{Op: "allreduce", Bytes: bytes, Repeats: 2},
				{Op: "gather", Bytes: bytes, Repeats: 1},
			} {
				seconds, in, err := Run(ctx, system, o)
				if err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				t.Logf("%+v: %v s, %.2f copies into A", o, seconds, in["A"]/bytes)
				if in["A"] < bytes {
					t.Errorf("%+v: %.0f bytes entered cluster A, fewer than one value", o, in["A"])
				}
			}
		})
	}
}

// TestCanceledMPIKilled cancels a run of MPI that would take minutes.
func TestCanceledMPIKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	if err := Missing("mpich"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := Run(ctx, "mpich", Operation{Op: "allreduce", Bytes: 8_000_000, Repeats: 1000})
		ended <- err
	}()
	for running(dir) < 16 {
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled run returned %v", err)
	}
	for until := time.Now().Add(10 * time.Second); running(dir) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d processes are left", running(dir))
		}
	}
}

// running returns the number of processes with programs in a directory.
func running(dir string) (n int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil && bytes.HasPrefix(b, []byte(dir)) {
			n++
		}
	}
	return n
}
