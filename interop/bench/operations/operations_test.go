package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
