package peer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/mobgrid/mob/peer"
)

// Example seeds a directory at one node and gets it at another.
func Example() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", "example"))
	defer os.RemoveAll(dir)
	folder, dest := filepath.Join(dir, "model"), filepath.Join(dir, "copy")
	must(0, os.CopyFS(folder, fstest.MapFS{"weights": {Data: []byte("0.5 0.25")}}))

	source := must(peer.Start(peer.Config{Data: filepath.Join(dir, "source")}))
	defer source.Close()
	other := must(peer.Start(peer.Config{Data: filepath.Join(dir, "other")}))
	defer other.Close()

	seed := must(source.Seed(ctx, folder, peer.SeedOptions{}))
	get := must(other.Get(seed.Link(), dest, peer.GetOptions{}))
	fmt.Println(get.Wait(ctx))
	fmt.Printf("%s\n", must(os.ReadFile(filepath.Join(dest, "weights"))))
	// Output:
	// <nil>
	// 0.5 0.25
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
