package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestImage reads an image back as a runtime does, by its digests.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	programs := map[string]string{"mob": "one program", "mob-agent": "another", "mobd": "the last"}
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "image.tar")
	if err := write(dir, "arm64", "v0.1.0+dirty", path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := untar(t, b)
	type descriptor struct {
		Digest string
		Size   int
	}
	get := func(d descriptor) []byte {
		blob := files[blobPath(d.Digest)]
		if digest(blob) != d.Digest || len(blob) != d.Size {
			t.Fatalf("blob %s has %d bytes with the digest %s, want %d", d.Digest, len(blob), digest(blob), d.Size)
		}
		return blob
	}
	var index struct{ Manifests []descriptor }
	decode(t, files["index.json"], &index)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	decode(t, get(index.Manifests[0]), &manifest)
	var config struct {
		Architecture, OS string
		Config           struct {
			User       string
			Entrypoint []string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	decode(t, get(manifest.Config), &config)
	if config.Architecture != "arm64" || config.OS != "linux" || config.Config.User != "65532:65532" ||
		len(config.Config.Entrypoint) != 1 || config.Config.Entrypoint[0] != "/usr/bin/mobd" {
		t.Errorf("config %+v", config)
	}
	if len(manifest.Layers) != 1 || len(config.RootFS.DiffIDs) != 1 || config.RootFS.DiffIDs[0] != manifest.Layers[0].Digest {
		t.Fatalf("layers %v, of the config %v; want one", manifest.Layers, config.RootFS.DiffIDs)
	}
	layer := untar(t, get(manifest.Layers[0]))
	for name, text := range programs {
		if string(layer["usr/bin/"+name]) != text {
			t.Errorf("%s has %q", name, layer["usr/bin/"+name])
		}
	}
	var docker []struct {
		Config           string
		RepoTags, Layers []string
	}
	decode(t, files["manifest.json"], &docker)
	if docker[0].Config != blobPath(manifest.Config.Digest) || docker[0].Layers[0] != blobPath(manifest.Layers[0].Digest) ||
		docker[0].RepoTags[0] != reference+":v0.1.0-dirty" {
		t.Errorf("manifest.json %+v", docker)
	}
	again := filepath.Join(dir, "again.tar")
	if err := write(dir, "arm64", "v0.1.0+dirty", again); err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(again); err != nil || !bytes.Equal(b, other) {
		t.Errorf("the same programs make another image, %v", err)
	}
}

func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], err = io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
	}
}

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%v: %q", err, b)
	}
}
