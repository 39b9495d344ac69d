package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/mobgrid/mob/cli/command"
)

func TestDemo(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out, log bytes.Buffer
	args := []string{"--size", "3MB", "--clusters", "2", "--nodes", "2", "--json"}
	env := &command.Env{Args: args, Out: &out, Err: &log, Getenv: os.Getenv}
	if status := env.Run(Command(&command.App{Env: env})); status != 0 {
		t.Fatalf("status %d: %s", status, log.String())
	}
	var r receipt
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Bytes != 3e6 || r.Nodes != 4 || r.Intact != 4 || len(r.Clusters) != 2 {
		t.Errorf("%+v", r)
	}
	for _, c := range r.Clusters {
		if c.FromWAN+c.FromLAN < 2*r.Bytes || c.WANCopies < 1 { // up to two: nodes that are not connected yet fetch the same pieces
			t.Errorf("%+v", c)
		}
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
