// Command image writes a container image of one layer, for `docker load`, `podman load`, `ctr
// images import` and `skopeo copy oci-archive:FILE`. It needs no daemon, and the same programs
// make the same image.
//
//	image DIR ARCH VERSION FILE
//
// DIR has the static programs mob, mob-agent and mobd. The archive is an OCI image layout, with the
// manifest.json of `docker save` beside it.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// reference is the name that the image gets where it is loaded, before the version.
const reference = "ghcr.io/mobgrid/mob"

// user is the numeric user of the programs, unless the container sets another.
const user = 65532

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: image DIR ARCH VERSION FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(programs, arch, version, path string) error {
	layer, err := makeLayer(programs)
	if err != nil {
		return err
	}
	b, err := makeArchive(layer, arch, version)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// makeLayer returns the layer: the programs, and directories that they write to.
func makeLayer(programs string) ([]byte, error) {
	a := newArchive()
	a.dir("tmp/", 0, 0o1777)
	a.dir("usr/", 0, 0o755)
	a.dir("usr/bin/", 0, 0o755)
	for _, name := range []string{"mob", "mob-agent", "mobd"} {
		b, err := os.ReadFile(filepath.Join(programs, name))
		if err != nil {
			return nil, err
		}
		a.file("usr/bin/"+name, b, 0o755)
	}
	a.dir("var/", 0, 0o755)
	a.dir("var/lib/", 0, 0o755)
	a.dir("var/lib/mob/", user, 0o700)
	return a.bytes()
}

// makeArchive returns the archive of an image with a layer.
func makeArchive(layer []byte, arch, version string) ([]byte, error) {
	tag := imageTag(version)
	config := object{
		"architecture": arch,
		"os":           "linux",
		"created":      time.Unix(0, 0).UTC(),
		"config": object{
			"User":         fmt.Sprintf("%d:%d", user, user),
			"Env":          []string{"PATH=/usr/bin", "MOB_DATA=/var/lib/mob"},
			"Entrypoint":   []string{"/usr/bin/mobd"},
			"ExposedPorts": object{"4001/tcp": object{}},
			"Volumes":      object{"/var/lib/mob": object{}},
			"Labels": object{
				"org.opencontainers.image.source":   "https://github.com/mobgrid/mob",
				"org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.version":  version,
			},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{digest(layer)}},
		"history": []object{{"created": time.Unix(0, 0).UTC(), "created_by": "make image"}},
	}
	a := newArchive()
	configBlob := a.blob("application/vnd.oci.image.config.v1+json", encode(config))
	layerBlob := a.blob("application/vnd.oci.image.layer.v1.tar", layer)
	manifest := a.blob("application/vnd.oci.image.manifest.v1+json", encode(object{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.manifest.v1+json",
		"config":        configBlob,
		"layers":        []object{layerBlob},
	}))
	manifest["platform"] = object{"architecture": arch, "os": "linux"}
	manifest["annotations"] = object{
		"io.containerd.image.name":          reference + ":" + tag,
		"org.opencontainers.image.ref.name": tag,
	}
	a.file("oci-layout", encode(object{"imageLayoutVersion": "1.0.0"}), 0o644)
	a.file("index.json", encode(object{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.index.v1+json",
		"manifests":     []object{manifest},
	}), 0o644)
	a.file("manifest.json", encode([]object{{
		"Config":   blobPath(configBlob["digest"].(string)),
		"RepoTags": []string{reference + ":" + tag},
		"Layers":   []string{blobPath(layerBlob["digest"].(string))},
	}}), 0o644)
	return a.bytes()
}

// imageTag makes a tag of a version: tags have no plus sign.
func imageTag(version string) string {
	return string(bytes.ReplaceAll([]byte(version), []byte("+"), []byte("-")))
}

// object is an object of JSON.
type object = map[string]any

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings, numbers, times, lists and maps
	}
	return b
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// blobPath returns the path of a blob in an OCI image layout.
func blobPath(digest string) string { return "blobs/sha256/" + digest[len("sha256:"):] }

// archive is a tar archive without owners and times. The first error is kept for the end.
type archive struct {
	buf bytes.Buffer
	tar *tar.Writer
	err error
}

func newArchive() *archive {
	a := new(archive)
	a.tar = tar.NewWriter(&a.buf)
	return a
}

func (a *archive) dir(name string, owner int, mode fs.FileMode) {
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name, Uid: owner, Gid: owner, Mode: int64(mode)}, nil)
}

func (a *archive) file(name string, b []byte, mode fs.FileMode) {
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: int64(mode)}, b)
}

// blob adds a blob of an OCI image layout and returns its descriptor.
func (a *archive) blob(mediaType string, b []byte) object {
	d := digest(b)
	a.file(blobPath(d), b, 0o644)
	return object{"mediaType": mediaType, "digest": d, "size": len(b)}
}

func (a *archive) add(h *tar.Header, b []byte) {
	if a.err != nil {
		return
	}
	h.ModTime, h.Format = time.Unix(0, 0), tar.FormatUSTAR
	if a.err = a.tar.WriteHeader(h); a.err == nil {
		_, a.err = a.tar.Write(b)
	}
}

func (a *archive) bytes() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	err := a.tar.Close()
	return a.buf.Bytes(), err
}
