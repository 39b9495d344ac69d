package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	if system := os.Getenv(endless); system != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		_, err := Run(ctx, system, Operation{Op: "allreduce", Bytes: 8_000_000, Repeats: 1000})
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// endless is the environment variable with the system of a run that does not end by itself.
const endless = "MOB_ENDLESS_OPERATION"

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
				r, err := Run(ctx, system, o)
				if err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				t.Logf("%+v: %v s, %.2f copies into A", o, r.Seconds, r.In["A"]/bytes)
				if r.In["A"] < bytes {
					t.Errorf("%+v: %.0f bytes entered cluster A, fewer than one value", o, r.In["A"])
				}
			}
		})
	}
}

// TestMPIEndsWithBench cancels a run of MPI that would take minutes, and kills the program that has started one.
func TestMPIEndsWithBench(t *testing.T) {
	if testing.Short() {
		t.Skip("a test on a grid: not with -short")
	}
	if err := netns.Available(); err != nil {
		t.Skip("no grid: ", err)
	}
	for _, system := range []string{"mpich", "openmpi"} {
		if err := Missing(system); err != nil {
			t.Skip(err)
		}
		for name, end := range map[string]os.Signal{"canceled": os.Interrupt, "killed": os.Kill} {
			t.Run(system+" "+name, func(t *testing.T) {
				dir, err := os.MkdirTemp("", "mpi") // a short name: MPI has sockets below it
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				cmd := exec.Command(os.Args[0])
				cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+dir, endless+"="+system), os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				for running(dir) < 16 {
					select {
					case err := <-ended:
						t.Fatal(err)
					case <-time.After(50 * time.Millisecond):
					}
				}
				_ = cmd.Process.Signal(end)
				t.Log("ended:", <-ended)
				for until := time.Now().Add(time.Minute); running(dir) > 0; time.Sleep(50 * time.Millisecond) {
					if time.Now().After(until) {
						t.Fatalf("%d processes are left", running(dir))
					}
				}
			})
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
