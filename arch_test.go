package mob_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mobgrid/mob"

// rule says what a package may import.
type rule struct {
	// ours are packages of this module, tests those that only its tests may
	// import besides.
	ours, tests []string
	// outside are prefixes of what else it may import besides the standard
	// library. Nil means anything.
	outside []string
	// pure packages compute only: see impure and clocks.
	pure bool
}

// table has the packages that each package may import. ARCHITECTURE.md has a row for each package.
var table = map[string]rule{
	"proto": {outside: []string{
		"github.com/fxamacker/cbor/v2", "github.com/ipfs/go-cid",
		"github.com/multiformats/go-multiaddr", "github.com/multiformats/go-multihash",
	}, pure: true},

	"proto/reach": {outside: []string{"github.com/multiformats/go-multiaddr"}, pure: true},

	"membership": {ours: []string{"peer/datadir", "proto"}, outside: []string{"github.com/libp2p/go-libp2p/core"}},

	"mob":             {ours: []string{"mob/assign", "mob/avail", "mob/bitset", "mob/conduct", "mob/flow", "mob/roster", "mob/session", "mob/timer", "proto"}, tests: []string{"mob/coded", "mob/pickertest", "mob/plan"}, outside: []string{}, pure: true},
	"mob/assign":      {ours: []string{"mob/conduct", "mob/plan", "mob/ranks", "proto"}, outside: []string{}, pure: true},
	"mob/avail":       {ours: []string{"mob/bitset", "mob/roster", "mob/timer", "proto"}, tests: []string{"mob/assign"}, outside: []string{}, pure: true},
	"mob/bitset":      {ours: []string{"proto"}, outside: []string{}, pure: true},
	"mob/coded":       {ours: []string{"mob", "mob/bitset", "mob/ranks"}, tests: []string{"mob/pickertest", "proto"}, outside: []string{}, pure: true},
	"mob/pickertest":  {ours: []string{"mob", "proto"}, outside: []string{}, pure: true},
	"mob/plan":        {ours: []string{"proto"}, outside: []string{}, pure: true},
	"mob/conduct":     {ours: []string{"proto"}, outside: []string{}, pure: true},
	"mob/flow":        {ours: []string{"proto"}, outside: []string{}, pure: true},
	"mob/timer":       {outside: []string{}, pure: true},
	"mob/ranks":       {outside: []string{}, pure: true},
	"mob/roster":      {ours: []string{"mob/assign", "mob/conduct", "mob/timer", "proto"}, outside: []string{}, pure: true},
	"mob/session":     {ours: []string{"mob/assign", "mob/avail", "mob/bitset", "mob/conduct", "mob/flow", "mob/roster", "mob/timer", "proto"}, outside: []string{}, pure: true},
	"mob/quota":       {outside: []string{}}, // its lock is not pure
	"mob/permutation": {ours: []string{"mob", "mob/bitset", "proto"}, outside: []string{}, pure: true},
	"mob/sim":         {ours: []string{"mob", "mob/assign", "mob/bitset", "mob/coded", "mob/permutation", "mob/plan", "mob/rlnc", "proto"}, outside: []string{}, pure: true},

	"mob/rlnc": {outside: []string{"github.com/klauspost/reedsolomon"}, pure: true},

	"peer/store/vfs":       {outside: []string{"golang.org/x/sys"}},
	"peer/store/journal":   {ours: []string{"peer/store/vfs"}, outside: []string{}},
	"peer/store":           {ours: []string{"peer/store/journal", "peer/store/vfs", "proto"}, tests: []string{"peer/store/storetest"}, outside: []string{}},
	"peer/store/storetest": {ours: []string{"peer/store", "proto"}, outside: []string{}},
	"peer/payload":         {ours: []string{"mob", "peer/store", "proto"}, tests: []string{"peer/payload/coded", "peer/store/storetest"}, outside: []string{}},
	"peer/payload/coded":   {ours: []string{"mob", "mob/rlnc", "peer/payload", "peer/store", "proto"}, tests: []string{"peer/store/storetest"}, outside: []string{"github.com/libp2p/go-libp2p/core"}},
	"peer/metadata":        {ours: []string{"mob/plan", "mob/quota", "peer/datadir", "peer/limit", "peer/store/vfs", "peer/transport", "proto"}, outside: []string{"github.com/ipfs/go-cid", "github.com/libp2p/go-libp2p"}},
	"peer/transport":       {ours: []string{"membership", "mob/quota", "peer/routes", "proto", "proto/reach"}, outside: []string{"github.com/libp2p/go-libp2p", "github.com/multiformats", "golang.org/x/crypto/chacha20poly1305", "golang.org/x/sys"}},
	"peer/datadir":         {outside: []string{"github.com/libp2p/go-libp2p", "golang.org/x/sys"}},
	"peer/limit":           {outside: []string{}},
	"peer/routes":          {outside: []string{}},
	"peer/shortname":       {outside: []string{"github.com/ipfs/go-cid", "github.com/libp2p/go-libp2p/core"}},
	"peer/swarm":           {ours: []string{"membership", "mob", "mob/assign", "mob/bitset", "mob/coded", "mob/permutation", "mob/plan", "mob/quota", "peer/limit", "peer/metadata", "peer/payload", "peer/payload/coded", "peer/store", "peer/transport", "proto", "proto/reach"}, tests: []string{"peer", "peer/peertest", "peer/store/storetest"}, outside: []string{"github.com/dustin/go-humanize", "github.com/ipfs/go-cid", "github.com/libp2p/go-libp2p", "github.com/multiformats/go-multiaddr"}},
	"peer":                 {ours: []string{"membership", "mob", "mob/plan", "mob/ranks", "peer/datadir", "peer/limit", "peer/metadata", "peer/payload", "peer/payload/coded", "peer/shortname", "peer/store", "peer/store/vfs", "peer/swarm", "peer/transport", "proto"}, tests: []string{"peer/peertest", "peer/store/storetest"}},
	"peer/peertest":        {ours: []string{"membership", "peer", "peer/datadir", "peer/payload", "peer/swarm", "peer/transport", "proto"}},

	"tracker":            {ours: []string{"membership", "mob/quota", "mob/ranks", "proto", "proto/reach"}, tests: []string{"peer/transport"}},
	"tracker/bittorrent": {ours: []string{"mob/quota", "proto/reach", "tracker"}, outside: []string{"github.com/anacrolix/torrent/bencode", "github.com/anacrolix/torrent/types/infohash"}},

	"feed":       {ours: []string{"feed/delta", "group", "peer", "peer/datadir", "peer/store", "proto"}, tests: []string{"peer/peertest"}},
	"feed/delta": {ours: []string{"proto"}, outside: []string{}, pure: true},

	"cast/launch": {ours: []string{"mob/quota", "peer/routes"}, outside: []string{}},
	"cast/agent":  {ours: []string{"cast/launch", "cast/stream", "membership", "mob", "peer", "peer/datadir", "peer/store", "peer/store/vfs", "proto", "tracker"}},
	"cast/stream": {ours: []string{"peer", "peer/datadir", "peer/store", "proto"}, tests: []string{"peer/peertest", "tracker"}, outside: []string{"github.com/libp2p/go-libp2p/core", "github.com/multiformats/go-multiaddr", "golang.org/x/sys"}},

	"interop/bittorrent": {ours: []string{"interop/bittorrent/bdecode", "mob/bitset", "mob/quota", "peer", "peer/limit", "peer/payload", "peer/transport", "proto", "proto/reach"}, tests: []string{"interop/bittorrent/metainfo", "mob", "peer/store"},
		outside: []string{"github.com/anacrolix/torrent"}},
	"interop/bittorrent/bdecode":  {outside: []string{}, pure: true},
	"interop/bittorrent/metainfo": {ours: []string{"interop/bittorrent/bdecode", "proto"}, outside: []string{"github.com/anacrolix/torrent/bencode", "github.com/anacrolix/torrent/types/infohash"}, pure: true},

	"group":      {ours: []string{"membership", "peer", "proto", "proto/reach"}, tests: []string{"membership", "peer/peertest", "tracker"}, outside: []string{"github.com/ipfs/go-cid", "github.com/libp2p/go-libp2p/core", "github.com/multiformats/go-multiaddr"}},
	"collective": {ours: []string{"group", "membership", "peer", "proto"}, tests: []string{"peer/peertest"}, outside: []string{"github.com/libp2p/go-libp2p/core"}},

	"cast/hostset": {outside: []string{}, pure: true},
	"cast":         {ours: []string{"cast/agent", "cast/hostset", "cast/launch", "cast/stream", "membership", "peer", "peer/datadir", "peer/store", "peer/store/vfs", "proto", "tracker"}, tests: []string{"peer/limit"}},

	"interop/netns":   {ours: []string{"mob/plan", "peer/limit"}, outside: []string{"github.com/prometheus/procfs", "github.com/vishvananda", "golang.org/x/sys"}},
	"interop/sshd":    {ours: []string{"interop/netns"}, outside: []string{"github.com/prometheus/procfs"}},
	"interop/feed":    {tests: []string{"feed", "interop/netns", "interop/workers", "peer"}, outside: []string{}},
	"interop/workers": {ours: []string{"interop/netns", "peer", "tracker"}, outside: []string{"github.com/libp2p/go-libp2p/core", "github.com/multiformats/go-multiaddr"}},
	"examples/kmeans": {ours: []string{"collective", "peer", "tracker"}, outside: []string{"github.com/libp2p/go-libp2p/core", "github.com/multiformats/go-multiaddr"}},

	"interop/collective": {tests: []string{"collective", "interop/netns", "interop/workers"}, outside: []string{}},
	"interop/cast":       {tests: []string{"interop/netns", "interop/sshd"}, outside: []string{}},
	"interop/bench": {ours: []string{"interop/bench/stock", "interop/netns", "interop/sshd", "mob", "mob/coded", "mob/plan", "mob/sim", "peer/payload/coded", "proto"}, tests: []string{"cli/control", "interop/bittorrent", "peer", "peer/limit"},
		outside: []string{"github.com/anacrolix/torrent/metainfo", "github.com/prometheus/procfs", "golang.org/x/sys", "gonum.org/v1/plot"}},
	"interop/bench/stock": {ours: []string{"interop/netns", "proto"}, outside: []string{"github.com/anacrolix/torrent"}},

	"interop/bench/operations": {ours: []string{"collective", "interop/bench", "interop/netns", "interop/workers"}, outside: []string{}},
	"interop/mob-bench":        {ours: []string{"cast/hostset", "cli/command", "cli/term", "cli/topology", "interop/bench", "interop/bench/operations", "interop/bench/stock", "interop/netns", "mob/plan", "proto"}, tests: []string{"cli"}},

	"interop/install": {tests: []string{"cli/clitest"}, outside: []string{}},

	"deploy":        {tests: []string{"cli"}},
	"deploy/image":  {outside: []string{}},
	"cli/control":   {ours: []string{"feed", "membership", "mob/plan", "mob/quota", "peer", "peer/datadir", "peer/limit", "peer/metadata", "peer/store", "peer/store/vfs", "proto", "tracker"}, tests: []string{"peer/peertest"}},
	"cli/web":       {ours: []string{"mob/quota", "peer/datadir"}, outside: []string{}},
	"cli":           {ours: []string{"cli/casting", "cli/command", "cli/daemon", "cli/demo", "cli/network", "cli/status", "cli/term", "cli/transfer"}, tests: []string{"cli/clitest", "cli/control", "interop/netns", "peer", "peer/peertest", "peer/transport", "proto", "tracker"}},
	"cli/command":   {ours: []string{"cli/control", "cli/term", "feed", "mob/plan", "peer", "peer/store/vfs", "proto"}},
	"cli/topology":  {ours: []string{"cli/term", "mob/plan", "peer/limit"}, outside: []string{"github.com/pelletier/go-toml/v2"}},
	"cli/term":      {outside: []string{"github.com/dustin/go-humanize", "github.com/mattn/go-runewidth", "github.com/vbauerster/mpb/v8"}},
	"cli/clitest":   {ours: []string{"cli/web"}},
	"cli/daemon":    {ours: []string{"cast/launch", "cli/command", "cli/control", "cli/metrics", "cli/term", "cli/web", "feed", "interop/bittorrent", "interop/bittorrent/metainfo", "membership", "peer", "peer/datadir", "peer/limit", "proto", "tracker"}, tests: []string{"cli/clitest", "peer/peertest", "peer/store", "peer/transport"}},
	"cli/transfer":  {ours: []string{"cast/launch", "cli/command", "cli/control", "cli/daemon", "cli/term", "cli/topology", "feed", "interop/bittorrent/metainfo", "mob/plan", "peer", "peer/datadir", "peer/store", "peer/store/vfs", "proto"}},
	"cli/status":    {ours: []string{"cli/command", "cli/control", "cli/daemon", "cli/term", "feed", "interop/bittorrent/metainfo", "peer", "peer/limit", "proto"}, tests: []string{"cli/topology", "mob/plan"}},
	"cli/network":   {ours: []string{"cli/command", "cli/daemon", "cli/metrics", "cli/term", "cli/web", "deploy", "membership", "peer", "peer/datadir", "peer/shortname", "peer/transport", "proto", "tracker", "tracker/bittorrent"}, tests: []string{"cli/clitest", "peer/peertest"}},
	"cli/casting":   {ours: []string{"cast", "cast/agent", "cast/hostset", "cast/launch", "cli/command", "cli/term", "proto"}},
	"cli/demo":      {ours: []string{"cli/command", "cli/daemon", "cli/term", "peer", "tracker"}},
	"cli/metrics":   {ours: []string{"peer", "peer/swarm", "proto", "tracker", "tracker/bittorrent"}, tests: []string{"peer/payload", "peer/peertest"}, outside: []string{"github.com/prometheus"}},
	"cli/mob":       {ours: []string{"cli", "cli/command"}, outside: []string{}},
	"deploy/man":    {ours: []string{"cli"}},
	"cli/mob-agent": {ours: []string{"cast/agent"}, outside: []string{}},
	"cli/mobd":      {ours: []string{"cli", "cli/command"}, outside: []string{"golang.org/x/sys"}},
}

// impure are the packages of the standard library that one that computes only
// has no use for: sockets, files, processes, locks, logs. Interfaces of io are
// fine, and so are the addresses of net/netip.
var impure = []string{"log", "log/slog", "net", "net/http", "os", "os/exec", "os/signal", "runtime", "sync", "sync/atomic", "syscall", "unsafe"}

// clocks are what of package time asks the clock, or waits for it.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

// pkg is what `go list` tells of a package.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles, IgnoredGoFiles            []string
	Imports, TestImports, XTestImports []string
}

// name is the import path within the module.
func (p *pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages lists the module's packages without the root, which has tests only.
// Go's test cache does not see what `go list` reads: run these with -count=1.
func packages(t *testing.T) []*pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	var all []*pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		p := new(pkg)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath != module {
			all = append(all, p)
		}
	}
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		r, ok := table[p.name()]
		if !ok {
			t.Errorf("%s is not in the import table of arch_test.go", p.name())
			continue
		}
		for _, path := range p.Imports {
			if why := r.refuses(path); why != "" {
				t.Errorf("%s imports %s: %s", p.name(), path, why)
			}
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			of, ours := strings.CutPrefix(path, module+"/")
			if ours && of != p.name() && !slices.Contains(r.ours, of) && !slices.Contains(r.tests, of) {
				t.Errorf("tests of %s import %s: not in their row of the table", p.name(), of)
			}
		}
	}
}

// TestArchitectureRows checks that ARCHITECTURE.md has one row for each package.
func TestArchitectureRows(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(text), "| Package |")
	rows, _, _ = strings.Cut(rows, "\n\n")
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(rows, -1) {
		named = append(named, m[1])
	}
	slices.Sort(named)
	if want := slices.Sorted(maps.Keys(table)); !slices.Equal(named, want) {
		t.Errorf("ARCHITECTURE.md has rows of %q, want %q", named, want)
	}
}

// refuses says why a package must not import path, if so.
func (r *rule) refuses(path string) string {
	if of, ours := strings.CutPrefix(path, module+"/"); ours {
		if !slices.Contains(r.ours, of) {
			return "not in its row of the table"
		}
		return ""
	}
	first, _, _ := strings.Cut(path, "/")
	if standard := !strings.Contains(first, "."); standard {
		if r.pure && slices.Contains(impure, path) {
			return "it computes only"
		}
		return ""
	}
	if r.outside != nil && !slices.ContainsFunc(r.outside, func(prefix string) bool {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}) {
		return "not a library that it is built on"
	}
	return ""
}

// TestPure finds goroutines and clocks in the packages that have none.
func TestPure(t *testing.T) {
	for _, p := range packages(t) {
		if !table[p.name()].pure {
			continue
		}
		for _, f := range p.parse(t) {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: a goroutine, in a package that computes only", f.at(n))
				case *ast.SelectorExpr:
					if of, ok := n.X.(*ast.Ident); ok && of.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
						t.Errorf("%s: time.%s, in a package that is told the time", f.at(n), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// file is a parsed source file.
type file struct {
	set *token.FileSet
	ast *ast.File
}

func (f *file) at(n ast.Node) string {
	at := f.set.Position(n.Pos())
	at.Filename = filepath.Join(f.ast.Name.Name, filepath.Base(at.Filename))
	return at.String()
}

// parse reads the sources of a package, for every system, without the tests.
func (p *pkg) parse(t *testing.T) []*file {
	t.Helper()
	var files []*file
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := &file{set: token.NewFileSet()}
		var err error
		if f.ast, err = parser.ParseFile(f.set, filepath.Join(p.Dir, name), nil, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestAgentIsSmall checks that mob-agent, which goes over the network to each host, has nothing in it of
// commands, plots, BitTorrent and transports that it does not use.
func TestAgentIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cli/mob-agent").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{
		module + "/cli", module + "/interop", "github.com/spf13/cobra", "gonum.org/v1/plot", "github.com/anacrolix/torrent",
		"github.com/libp2p/go-libp2p/config", "github.com/quic-go/quic-go", "github.com/pion/webrtc/v4", "github.com/gorilla/websocket",
	} {
		for path := range strings.Lines(string(out)) {
			if path = strings.TrimSpace(path); path == heavy || strings.HasPrefix(path, heavy+"/") && path != module+"/cli/mob-agent" {
				t.Errorf("mob-agent links %s", path)
			}
		}
	}
}
