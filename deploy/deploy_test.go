package deploy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/mobgrid/mob/cli"
)

// find returns a command of ours by its program and arguments: mobd, or mob and a subcommand.
func find(t *testing.T, program string, args []string) *cobra.Command {
	t.Helper()
	for _, root := range cli.Commands() {
		if root.Name() != filepath.Base(program) {
			continue
		}
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			sub, _, err := root.Find(args[:1])
			if err != nil {
				t.Fatal(err)
			}
			return sub
		}
		return root
	}
	t.Fatalf("no program %s", program)
	return nil
}

// checkFlags fails if a command line has a flag that the command does not have.
func checkFlags(t *testing.T, where, program string, args []string) {
	t.Helper()
	cmd := find(t, program, args)
	for _, arg := range args {
		name, long := strings.CutPrefix(arg, "--")
		if name, _, _ = strings.Cut(name, "="); long && cmd.Flag(name) == nil {
			t.Errorf("%s: %s has no flag --%s", where, cmd.CommandPath(), name)
		}
	}
}

// TestUnits checks that the flags of the units exist, and that the exposure of the services is 2.5
// at most by the scale of systemd, where 10 is a service with no protection.
func TestUnits(t *testing.T) {
	services, err := filepath.Glob("systemd/*.service")
	if err != nil || len(services) != 2 {
		t.Fatalf("services %v, %v", services, err)
	}
	env := variables(t, "packages/tracker.env")
	for _, path := range services {
		line := variables(t, path)["ExecStart"]
		args := strings.Fields(os.Expand(line, func(name string) string { return env[name] }))
		if len(args) == 0 {
			t.Fatalf("%s starts nothing", path)
		}
		checkFlags(t, path, args[0], args[1:])
		for _, limit := range []string{"MemoryHigh", "MemoryMax", "TasksMax"} {
			if variables(t, path)[limit] == "" {
				t.Errorf("%s has no %s=", path, limit)
			}
		}
	}
	if variables(t, "systemd/mobd.service")["RestrictSUIDSGID"] != "" {
		t.Error("mobd cannot give directories their setgid bit")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd to say how exposed the services are")
	}
	for _, path := range services {
		out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=25", path).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}

// variables returns what a file assigns, a variable on each line.
func variables(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if name, value, ok := strings.Cut(s.Text(), "="); ok && !strings.HasPrefix(name, "#") {
			vars[name] = value
		}
	}
	return vars
}

// TestConfigurations reads the configurations, with the keys that are commented out, and checks
// that each is a flag of mobd.
func TestConfigurations(t *testing.T) {
	mobd := find(t, "mobd", nil)
	for _, path := range []string{"packages/mobd.toml", "kubernetes/mobd.toml"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for line := range strings.Lines(string(b)) {
			if !strings.HasPrefix(line, "# ") {
				line = strings.TrimPrefix(line, "#")
			}
			text.WriteString(line)
		}
		var keys map[string]any
		if err := toml.Unmarshal([]byte(text.String()), &keys); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for key, value := range keys {
			if _, table := value.(map[string]any); !table && mobd.Flag(key) == nil {
				t.Errorf("%s: mobd has no flag --%s", path, key)
			}
		}
		if len(keys) < 3 {
			t.Errorf("%s has only %d keys", path, len(keys))
		}
	}
}

// manifest is the part of a Kubernetes object that the test reads.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				HostNetwork     bool `yaml:"hostNetwork"`
				SecurityContext struct {
					FSGroup       int    `yaml:"fsGroup"`
					FSGroupPolicy string `yaml:"fsGroupChangePolicy"`
				} `yaml:"securityContext"`
				Containers []container
			}
		}
	}
}

type container struct {
	Command, Args []string
	Env           []struct{ Name string }
	Resources     struct{ Limits map[string]string }
	Liveness      probe `yaml:"livenessProbe"`
	Readiness     probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path string } `yaml:"httpGet"`
}

// TestKubernetes checks the files against each other and against the programs.
func TestKubernetes(t *testing.T) {
	var list struct{ Resources []string }
	read(t, "kubernetes/kustomization.yaml", &list)
	var kinds []string
	for _, name := range list.Resources {
		for _, m := range read(t, filepath.Join("kubernetes", name), nil) {
			kinds = append(kinds, m.Kind)
			// Else each mount changes the modes of the key and the token, which only their owner may read.
			if c := m.Spec.Template.Spec.SecurityContext; c.FSGroup != 0 && c.FSGroupPolicy != "OnRootMismatch" {
				t.Errorf("%s: fsGroup with the policy %q", name, c.FSGroupPolicy)
			}
			for _, c := range m.Spec.Template.Spec.Containers {
				program := append(slices.Clone(c.Command), "mobd")[0]
				checkFlags(t, name, program, c.Args)
				if c.Resources.Limits["memory"] == "" {
					t.Errorf("%s: no limit of memory", name)
				}
				if c.Liveness.HTTPGet.Path != "/healthz" || c.Readiness.HTTPGet.Path != "/readyz" {
					t.Errorf("%s: probes %+v, %+v", name, c.Liveness, c.Readiness)
				}
			}
			if m.Kind == "DaemonSet" {
				c := m.Spec.Template.Spec.Containers[0]
				if !m.Spec.Template.Spec.HostNetwork || len(c.Env) == 0 || c.Env[0].Name != "MOB_CLUSTER" {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
	for _, want := range []string{"DaemonSet", "Deployment", "NetworkPolicy", "Service"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no %s in %v", want, kinds)
		}
	}
	if kubectl, err := exec.LookPath("kubectl"); err == nil {
		if out, err := exec.Command(kubectl, "kustomize", "kubernetes").CombinedOutput(); err != nil {
			t.Errorf("kustomize: %v: %s", err, out)
		}
	}
}

// TestProlog checks which comments of a job the prolog gets data for, and where to, also if a copy exists: it may be incomplete.
func TestProlog(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "timeout"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	prolog, err := os.ReadFile("slurm/prolog")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(data, "imagenet"), 0o700); err != nil {
		t.Fatal(err)
	}
	for comment, want := range map[string]string{
		"mob:/shared/links/imagenet":          "get @/shared/links/imagenet -o " + data + "/imagenet --quiet",
		"mob:/shared/links/two words":         "get @/shared/links/two words -o " + data + "/two words --quiet",
		"mob:/shared/links/eve/imagenet":      "",
		"mob:/shared/links//imagenet":         "",
		"mob:/shared/links/imagenet/":         "",
		"mob:/shared/links/../imagenet":       "",
		"mob:/shared/links/eve/../x/imagenet": "",
		"mob:/shared/links/..":                "",
		"mob:/shared/links/.":                 "",
		"mob:/shared/links/.x":                "",
		"mob:/shared/links/":                  "",
		"mob:/home/eve/imagenet":              "",
		"another comment":                     "",
		"":                                    "",
	} {
		cmd := exec.Command("sh", "-c", strings.ReplaceAll(string(prolog), "/scratch/data", data))
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "SLURM_JOB_COMMENT=" + comment}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("comment %q: %v", comment, err) // it would drain the node
		}
		if text := string(out); strings.Contains(text, "runuser") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("comment %q: %s, want %q", comment, text, want)
		}
	}
}

// TestActionsPinned checks that the workflows name actions by the hash of a commit, and its version in a comment.
func TestActionsPinned(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("workflows %v, %v", files, err)
	}
	pinned := regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); strings.Contains(line, "uses:") && !pinned.MatchString(line) {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
}

// read returns the objects of a file, or decodes its only one into other.
func read(t *testing.T, path string, other any) (objects []manifest) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if other != nil {
		if err := yaml.Unmarshal(b, other); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return nil
	}
	for d := yaml.NewDecoder(bytes.NewReader(b)); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		objects = append(objects, m)
	}
}
