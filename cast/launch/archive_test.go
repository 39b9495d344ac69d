package launch

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// elfProgram returns an ELF file of one segment, followed by bytes that are not loaded.
func elfProgram(t *testing.T, header, segment any, loaded int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := errors.Join(binary.Write(&b, binary.LittleEndian, header), binary.Write(&b, binary.LittleEndian, segment)); err != nil {
		t.Fatal(err)
	}
	content := make([]byte, loaded-b.Len())
	_, _ = rand.Read(content[:len(content)/2]) // never fails
	b.Write(content)
	b.WriteString("tables for debuggers")
	return b.Bytes()
}

// TestArchive packs programs of several formats.
func TestArchive(t *testing.T) {
	t.Parallel()
	const loaded = 2*member + 100
	ident := func(class elf.Class) (id [elf.EI_NIDENT]byte) {
		copy(id[:], elf.ELFMAG)
		id[elf.EI_CLASS], id[elf.EI_DATA], id[elf.EI_VERSION] = byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
		return id
	}
	for name, test := range map[string]struct {
		program []byte
		length  int
	}{
		"64 bits": {elfProgram(t, &elf.Header64{
			Ident: ident(elf.ELFCLASS64), Version: 1, Phoff: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
		}, &elf.Prog64{Filesz: loaded}, loaded), loaded},
		"32 bits": {elfProgram(t, &elf.Header32{
			Ident: ident(elf.ELFCLASS32), Version: 1, Phoff: 52, Phentsize: 32, Phnum: 1, Shentsize: 40,
		}, &elf.Prog32{Filesz: loaded}, loaded), loaded},
		"another format": {bytes.Repeat([]byte("program"), 300_000), 2_100_000},
		"short":          {[]byte("#!/bin/sh\nexec mob agent\n"), 25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(path, test.program, 0o600); err != nil {
				t.Fatal(err)
			}
			p, a, program := unpacked(t, path)
			if len(program) != test.length || p.length != int64(test.length) {
				t.Errorf("it has %d bytes, and %d are reported; want %d", len(program), p.length, test.length)
			}
			if head := min(64, len(program)); !bytes.Equal(program[head:], test.program[head:len(program)]) {
				t.Error("other bytes than the header differ")
			}
			// A program that was stripped is stripped to itself: who got it can serve the same.
			if err := os.WriteFile(path, program, 0o600); err != nil {
				t.Fatal(err)
			}
			p, again, _ := unpacked(t, path)
			if !bytes.Equal(again.data, a.data) || again.sum != a.sum || p.built != p.stripped {
				t.Error("the archive of a stripped program is another")
			}
		})
	}
}

// unpacked packs a program, and unpacks the archive.
func unpacked(t *testing.T, path string) (p *program, a *archive, program []byte) {
	t.Helper()
	p, err := newProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = p.archive(); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(a.data))
	if err != nil {
		t.Fatal(err)
	}
	if program, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	if sum, err := hexSum(bytes.NewReader(program)); err != nil || sum != p.stripped {
		t.Errorf("the archive has the program %s, %v; want %s", sum, err, p.stripped)
	}
	return p, a, program
}

// TestOtherSystems builds a program for this system and one with another format.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for another system")
	}
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\nfunc main() { println(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pf := range [][2]string{{"darwin", "amd64"}, {runtime.GOOS, runtime.GOARCH}} {
		path := filepath.Join(dir, agentName+"-"+pf[0]+"-"+pf[1])
		cmd := exec.Command("go", "build", "-o", path, filepath.Join(dir, "main.go"))
		cmd.Env = append(os.Environ(), "GOOS="+pf[0], "GOARCH="+pf[1], "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		unpacked(t, path)
	}
	ps, err := Find(filepath.Join(dir, agentName+"-darwin-amd64"))
	if err != nil || len(ps.all) != 2 {
		t.Errorf("found %d programs, %v", len(ps.all), err)
	}
}

// TestFind checks that programs of other builds are not found, nor what is none, beside mob.
func TestFind(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "[mob]")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mob := filepath.Join(dir, "mob")
	if err := os.Link(self, mob); err != nil {
		b, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(mob, b, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{agentName: "#!/bin/sh\n", agentName + "-linux-ppc64le": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ps, err := Find(mob)
	if err != nil || len(ps.all) != 1 || ps.all[0].path != mob || ps.all[0].args != "agent" {
		t.Fatalf("found %+v, %v", ps, err)
	}
	for pf, want := range map[string]string{
		"linux/ppc64le": "mob-agent-linux-ppc64le in " + dir + " is not of the same build as mob",
		"linux/s390x":   "no program for linux/s390x: put mob-agent-linux-s390x of the same build into " + dir,
	} {
		if got := ps.missing(pf).Error(); got != want {
			t.Errorf("%s: %q, want %q", pf, got, want)
		}
	}
}

// TestScriptLine checks what no shell between the caster and sh may change.
func TestScriptLine(t *testing.T) {
	t.Parallel()
	ps := absent(t)
	ps.all[0].path = `/opt/it's $HOME!/mob`
	line := script(ps, true, true)
	inner, found := strings.CutPrefix(strings.TrimSuffix(line, "'"), "exec sh -c '")
	if !found || strings.ContainsAny(inner, "'!\n\r") || strings.Contains(inner, `\\`) || strings.Contains(line, "@") {
		t.Errorf("the command line is %s", line)
	}
	if strings.Contains(line, "$HOME!") {
		t.Error("a path with special characters is in it")
	}
}

func TestUnames(t *testing.T) {
	t.Parallel()
	for uname, want := range map[string]string{
		"Linux x86_64": "linux/amd64", "Darwin arm64": "darwin/arm64", "Linux aarch64": "linux/arm64",
		"Linux riscv64": "linux/riscv64", "FreeBSD amd64": "freebsd/amd64", "SunOS i86pc": "SunOS/i86pc", "": "/",
	} {
		if got := parseUname(uname); got != want {
			t.Errorf("%q is %s, want %s", uname, got, want)
		}
	}
}
