package launch

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestArchive packs the test program, which has much for debuggers when it is compiled with -c.
func TestArchive(t *testing.T) {
	t.Parallel()
	ps := absent(t)
	a, err := ps.all[0].archive()
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(a.data))
	if err != nil {
		t.Fatal(err)
	}
	program, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(program)) != ps.all[0].length {
		t.Errorf("it has %d bytes, not %d", len(program), ps.all[0].length)
	}
	// A program that was stripped is stripped to itself: who got it can serve the same.
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := packFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.data, a.data) || again.sum != a.sum {
		t.Error("the archive of a stripped program is another")
	}
	p, err := newProgram(path)
	if want := ps.all[0].stripped; err != nil || p.built != want || p.stripped != want {
		t.Errorf("its sums are %s and %s, %v; want %s", p.built, p.stripped, err, want)
	}
}

// TestOtherSystems builds a program for systems with other formats.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library for two systems")
	}
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\nfunc main() { println(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pf := range []platform{{"darwin", "arm64"}, {"linux", "386"}} {
		path := filepath.Join(dir, agentName+"-"+pf.system+"-"+pf.arch)
		cmd := exec.Command("go", "build", "-o", path, filepath.Join(dir, "main.go"))
		cmd.Env = append(os.Environ(), "GOOS="+pf.system, "GOARCH="+pf.arch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		p, err := newProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.archive()
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(a.data))
		if err != nil {
			t.Fatal(err)
		}
		program, err := io.ReadAll(z)
		if err != nil || int64(len(program)) != p.length {
			t.Errorf("%s: %d bytes, %v; want %d", pf, len(program), err, p.length)
		}
		if sum, err := hexSum(bytes.NewReader(program)); err != nil || sum != p.stripped {
			t.Errorf("%s: the archive has the program %s, %v; want %s", pf, sum, err, p.stripped)
		}
	}
	ps, err := Find(filepath.Join(dir, agentName+"-linux-386"))
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
	dir := t.TempDir()
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
	for pf, want := range map[platform]string{
		{"linux", "ppc64le"}: "mob-agent-linux-ppc64le in " + dir + " is not of the same build as mob",
		{"linux", "s390x"}:   "no program for linux/s390x: put mob-agent-linux-s390x of the same build into " + dir,
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
		if got := parseUname(uname).String(); got != want {
			t.Errorf("%q is %s, want %s", uname, got, want)
		}
	}
}
