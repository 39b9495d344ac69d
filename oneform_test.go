package mob_test

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// twoForms lists the pairs of structs that repeat each other's fields, with the reason. There should be at
// most 20.
var twoForms = map[[2]string]string{
	{"cli/control.TopologyLink", "proto.TopologyLink"}:          "JSON for scripts, and an array on the wire",
	{"cli/status.description", "cli/status.torrentDescription"}: "JSON of two commands, each an interface for scripts",
	{"cli/status.description", "peer.Status"}:                   "a link without a transfer, and a transfer",
	{"cli/status.description", "proto.Link"}:                    "JSON with texts, and the parsed link",
	{"cli/status.entry", "proto.Entry"}:                         "JSON with texts, and the manifest on the wire",
	{"feed.Head", "feed.wireHead"}:                              "the head with links and a time, and its CBOR form",
	{"interop/bittorrent.connManager", "peer/transport.gate"}:   "unrelated: both have a context, a log and a lock",
	{"membership.Certificate", "membership.certificateRecord"}:  "the certificate, and its CBOR form",
	{"mob.PeerStatus", "peer/swarm.PeerStatus"}:                 "the pure snapshot, and one with texts and JSON",
	{"mob/permutation.member", "mob/roster.Node"}:               "members of two strategies that share no code",
	{"peer.Node", "peer/transport.gate"}:                        "unrelated: both have a context, a log and a lock",
	{"peer.SeedOptions", "proto.Link"}:                          "options of the caller, and the link made of them",
}

// TestOneForm finds structs that repeat each other: they share five field names, and half of the fields of
// the smaller one.
func TestOneForm(t *testing.T) {
	fields := map[string][]string{}
	for _, p := range packages(t) {
		for _, f := range p.parse(t) {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						fields[p.name()+"."+spec.Name.Name] = fieldNames(s)
					}
				}
				return true
			})
		}
	}
	names := slices.Sorted(maps.Keys(fields))
	pairs := map[[2]string]bool{}
	for i, a := range names {
		for _, b := range names[i+1:] {
			shared := 0
			for _, f := range fields[a] {
				if slices.Contains(fields[b], f) {
					shared++
				}
			}
			pair := [2]string{a, b}
			if shared < 5 || 2*shared < min(len(fields[a]), len(fields[b])) {
				continue
			}
			pairs[pair] = true
			if twoForms[pair] == "" {
				t.Errorf("%s and %s share %d fields: use one of them, or add a reason to the list", a, b, shared)
			}
		}
	}
	for pair := range twoForms {
		if !pairs[pair] {
			t.Errorf("%s and %s do not repeat each other: remove them from the list", pair[0], pair[1])
		}
	}
}

// fieldNames returns the names of a struct's fields, embedded types included.
func fieldNames(s *ast.StructType) (names []string) {
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
		if len(f.Names) == 0 {
			typ := f.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			switch typ := typ.(type) {
			case *ast.Ident:
				names = append(names, typ.Name)
			case *ast.SelectorExpr:
				names = append(names, typ.Sel.Name)
			}
		}
	}
	return names
}
