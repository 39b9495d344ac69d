package proto

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestLimits checks messages at each limit and one beyond. Writers and readers must agree.
func TestLimits(t *testing.T) {
	id := []byte{1}
	cid := bytes.Repeat(id, MaxCID)
	cluster := strings.Repeat("c", MaxCluster)
	addr := bytes.Repeat(id, MaxAddr)
	addrs := bytes.Split(bytes.Repeat([]byte("a,"), MaxAddrs), []byte(","))[:MaxAddrs]
	member := Member{ID: PeerID(strings.Repeat("p", MaxPeerID)), Cluster: cluster, Addrs: addrs}
	ranges := make([]Range, MaxRanges+1)
	for i := range ranges {
		ranges[i] = Range{First: uint32(i), Count: 1}
	}
	members := make([]Member, MaxMembers+1)
	for i := range members {
		members[i] = Member{ID: "p", Cluster: "A"}
	}
	hosts := strings.Split(strings.Repeat("n,", MaxMembers)+"n", ",")
	clusters := make([]ScrapeCluster, MaxClusters+1)
	for i := range clusters {
		clusters[i] = ScrapeCluster{Name: "A"}
	}
	for _, tt := range []struct {
		name string
		m    Message
		want string // part of the error, empty for none
	}{
		{"hello, largest", &Hello{Swarm: cid, Cluster: cluster, Addrs: addrs, Features: 1<<64 - 1}, ""},
		{"hello, no swarm", &Hello{Cluster: "A"}, "content id of 0 bytes, want 1 to 64"},
		{"hello, long swarm", &Hello{Swarm: append(cid, 1), Cluster: "A"}, "content id of 65 bytes"},
		{"hello, no cluster", &Hello{Swarm: id}, `cluster name ""`},
		{"hello, long cluster", &Hello{Swarm: id, Cluster: cluster + "c"}, "want 1 to 64 characters"},
		{"hello, bad cluster", &Hello{Swarm: id, Cluster: "a b"}, `cluster name "a b": only letters`},
		{"hello, cluster with a newline", &Hello{Swarm: id, Cluster: "a\n"}, "only letters"},
		{"hello, cluster of umlauts", &Hello{Swarm: id, Cluster: "ü"}, "only letters"},
		{"hello, many addresses", &Hello{Swarm: id, Cluster: "A", Addrs: append(addrs, addr)}, "17 addresses, at most 16"},
		{"hello, longest address", &Hello{Swarm: id, Cluster: "A", Addrs: [][]byte{addr}}, ""},
		{"hello, long address", &Hello{Swarm: id, Cluster: "A", Addrs: [][]byte{append(addr, 1)}}, "address of 257 bytes, want 1 to 256"},
		{"hello, empty address", &Hello{Swarm: id, Cluster: "A", Addrs: [][]byte{{}}}, "address of 0 bytes"},
		{"have, empty", &Have{}, ""},
		{"have, many ranges", &Have{Have: ranges}, "have: 16385 ranges, at most 16384"},
		{"claim, many ranges", &Have{Claim: ranges}, "claim: 16385 ranges"},
		{"drop, many ranges", &Have{Drop: ranges}, "drop: 16385 ranges"},
		{"have, all", &Have{Have: []Range{{First: 0, Count: MaxPieces}}}, ""},
		{"have, the last", &Have{Have: []Range{{First: MaxPieces - 1, Count: 1}}}, ""},
		{"have, one past the last", &Have{Have: []Range{{First: MaxPieces, Count: 1}}}, "have: bad range 2097152+1"},
		{"have, past the end", &Have{Have: []Range{{First: MaxPieces - 1, Count: 2}}}, "have: bad range"},
		{"have, overflow", &Have{Have: []Range{{First: 1<<32 - 1, Count: 1<<32 - 1}}}, "have: bad range"},
		{"have, empty range", &Have{Have: []Range{{First: 1, Count: 0}}}, "have: bad range 1+0"},
		{"claim, empty range", &Have{Claim: []Range{{First: 1, Count: 0}}}, "claim: bad range"},
		{"drop, empty range", &Have{Drop: []Range{{First: 1, Count: 0}}}, "drop: bad range"},
		{"have, all and one", &Have{Have: []Range{{First: 0, Count: MaxPieces}, {First: 3, Count: 1}}}, "have: ranges of 2097153 pieces, at most 2097152"},
		{"want, most ranges", &Want{Pieces: ranges[:MaxRanges]}, ""},
		{"want, many ranges", &Want{Pieces: ranges}, "want: 16385 ranges"},
		{"want, empty range", &Want{Pieces: []Range{{First: 1, Count: 0}}}, "want: bad range"},
		{"give, empty", &Give{}, ""},
		{"give, many ranges", &Give{Pieces: ranges}, "give: 16385 ranges"},
		{"give, empty range", &Give{Pieces: []Range{{First: 1, Count: 0}}}, "give: bad range"},
		{"request, largest", &Request{Span: Span{Piece: MaxPieces - 1, Begin: MaxPieceLength - MaxBlock, Length: MaxBlock}}, ""},
		{"request, empty", &Request{Span: Span{Piece: 1, Begin: 0, Length: 0}}, "bad span 1:0+0"},
		{"request, no such piece", &Request{Span: Span{Piece: MaxPieces, Begin: 0, Length: 1}}, "bad span"},
		{"request, too long", &Request{Span: Span{Piece: 1, Begin: 0, Length: MaxBlock + 1}}, "bad span 1:0+262145"},
		{"request, past the end", &Request{Span: Span{Piece: 1, Begin: MaxPieceLength - 1, Length: 2}}, "bad span"},
		{"request, overflow", &Request{Span: Span{Piece: 1, Begin: 1<<32 - 1, Length: 1}}, "bad span"},
		{"cancel, empty", &Cancel{Span: Span{Piece: 1, Begin: 0, Length: 0}}, "bad span"},
		{"reject, empty", &Reject{Span: Span{Piece: 1, Begin: 0, Length: 0}}, "bad span"},
		{"bad, last piece", &Bad{Piece: MaxPieces - 1}, ""},
		{"bad, no such piece", &Bad{Piece: MaxPieces}, "bad piece 2097152"},
		{"steal, highest rate", &Steal{Rate: 1<<64 - 1}, ""},
		{"ping", &Ping{Nonce: 1<<64 - 1}, ""},
		{"pong", &Pong{Nonce: 1<<64 - 1}, ""},
		{"hosts, largest", &HostsRequest{Swarm: cid, Name: strings.Repeat("n", MaxHost), Wanted: hosts[:MaxMembers]}, ""},
		{"hosts, no swarm", &HostsRequest{Name: "n"}, "content id of 0 bytes"},
		{"hosts, no name", &HostsRequest{Swarm: id}, "host name of 0 bytes, want 1 to 255"},
		{"hosts, long name", &HostsRequest{Swarm: id, Name: strings.Repeat("n", MaxHost+1)}, "host name of 256 bytes"},
		{"hosts, name with a space", &HostsRequest{Swarm: id, Name: "a b"}, `host name "a b": spaces`},
		{"hosts, name with a newline", &HostsRequest{Swarm: id, Name: "a\n"}, "control characters"},
		{"hosts, name with an escape", &HostsRequest{Swarm: id, Name: "a\x1b[1m"}, "control characters"},
		{"hosts, name of umlauts", &HostsRequest{Swarm: id, Name: "zürich-1"}, ""},
		{"hosts, many wanted", &HostsRequest{Swarm: id, Name: "n", Wanted: hosts}, "1025 hosts are wanted, at most 1024"},
		{"hosts, empty wanted", &HostsRequest{Swarm: id, Name: "n", Wanted: []string{""}}, "host name of 0 bytes"},
		{"hosts, none", &Hosts{}, ""},
		{"hosts, without addresses", &Hosts{Hosts: []Host{{Name: "n", ID: "p", Cluster: "A"}}}, ""},
		{"hosts, without an id", &Hosts{Hosts: []Host{{Name: "n", Cluster: "A"}}}, "peer id of 0 bytes"},
		{"hosts, without a name", &Hosts{Hosts: []Host{{ID: "p", Cluster: "A"}}}, "host name of 0 bytes"},
		{"hosts, many", &Hosts{Hosts: make([]Host, MaxMembers+1)}, "1025 hosts, at most 1024"},
		{"measured, nothing", &Measured{}, ""},
		{"measured, links without windows", &Measured{Windows: []uint32{1}, Links: []MeasuredLink{{Cluster: "A"}, {Cluster: "B"}}}, ""},
		{"measured, most windows", &Measured{Windows: slices.Repeat([]uint32{maxWindow}, MaxWindows)}, ""},
		{"measured, many windows", &Measured{Windows: slices.Repeat([]uint32{1}, MaxWindows+1)}, "41 windows of 0 links, at most 40"},
		{"measured, many links", &Measured{Links: make([]MeasuredLink, MaxMeasured+1)}, "17 links"},
		{"measured, empty window", &Measured{Windows: []uint32{0}}, "window of 0 ms"},
		{"measured, long window", &Measured{Windows: []uint32{maxWindow + 1}}, "window of 60001 ms"},
		{"measured, order", &Measured{Links: []MeasuredLink{{Cluster: "B"}, {Cluster: "A"}}}, "order"},
		{"measured, short link", &Measured{Windows: []uint32{1, 1}, Links: []MeasuredLink{{Cluster: "A", Bytes: []uint32{1}, Queue: []uint32{1}}}}, "1 and 1 windows of 2"},
		{"measured, no queue", &Measured{Windows: []uint32{1}, Links: []MeasuredLink{{Cluster: "A", Bytes: []uint32{1}}}}, "1 and 0 windows of 1"},
		{"measured, losses", &Measured{Links: []MeasuredLink{{Cluster: "A", Sent: 1, Lost: 2}}}, "2 of 1 segments were lost"},
		{"topology, largest rate", &Topology{Links: []TopologyLink{{From: "A", To: "B", Rate: maxRate}}}, ""},
		{"topology, rate", &Topology{Links: []TopologyLink{{From: "A", To: "B", Rate: maxRate + 1}}}, "rate or loss count out of range"},
		{"topology, losses", &Topology{Links: []TopologyLink{{From: "A", To: "B", Lost: 1}}}, "rate or loss count out of range"},
		{"topology, no cluster", &Topology{Links: []TopologyLink{{From: "A"}}}, "cluster name"},
		{"topology, many links", &Topology{Links: make([]TopologyLink, MaxTopologyLinks+1)}, "2049 links"},
		{"topology, many hosts", &Topology{Hosts: make([]Host, MaxMembers+1)}, "1025 hosts"},
		{"members, none", &Members{}, ""},
		{"members, most", &Members{Members: members[:MaxMembers]}, ""},
		{"members, many", &Members{Members: members}, "1025 members, at most 1024"},
		{"member, largest", &Members{Members: []Member{member}}, ""},
		{"member, no id", &Members{Members: []Member{{Cluster: "A"}}}, "peer id of 0 bytes, want 1 to 64"},
		{"member, long id", &Members{Members: []Member{{ID: member.ID + "p", Cluster: "A"}}}, "peer id of 65 bytes"},
		{"member, no cluster", &Members{Members: []Member{{ID: "p"}}}, "cluster name"},
		{"member, many addresses", &Members{Members: []Member{{ID: "p", Cluster: "A", Addrs: append(addrs, id)}}}, "17 addresses"},
		{"goodbye, longest text", &Goodbye{Code: 200, Text: strings.Repeat("t", MaxText)}, ""},
		{"goodbye, long text", &Goodbye{Text: strings.Repeat("t", MaxText+1)}, "text of 513 bytes, at most 512"},
		{"goodbye, text not UTF-8", &Goodbye{Text: "\xff"}, "UTF-8"},
		{"bulk hello, no swarm", &BulkHello{}, "content id of 0 bytes"},
		{"manifest request, no swarm", &ManifestRequest{}, "content id of 0 bytes"},
		{"manifest reply, longest", &ManifestReply{Length: MaxManifest}, ""},
		{"manifest reply, empty", &ManifestReply{}, "manifest of 0 bytes, want 1 to 201326592"},
		{"manifest reply, too long", &ManifestReply{Length: MaxManifest + 1}, "manifest of 201326593 bytes"},
		{"announce, whole", &Announce{Swarm: id, Cluster: "A", Have: MaxPieces, Total: MaxPieces}, ""},
		{"announce, no manifest yet", &Announce{Swarm: id, Cluster: "A"}, ""},
		{"announce, no swarm", &Announce{Cluster: "A"}, "content id of 0 bytes"},
		{"announce, no cluster", &Announce{Swarm: id}, "cluster name"},
		{"announce, many addresses", &Announce{Swarm: id, Cluster: "A", Addrs: append(addrs, id)}, "17 addresses"},
		{"announce, more than all pieces", &Announce{Swarm: id, Cluster: "A", Have: 2, Total: 1}, "2 of 1 pieces"},
		{"announce, too many pieces", &Announce{Swarm: id, Cluster: "A", Total: MaxPieces + 1}, "0 of 2097153 pieces"},
		{"announce reply, many", &AnnounceReply{Members: members}, "1025 members"},
		{"announce reply, member without id", &AnnounceReply{Members: []Member{{}}}, "peer id of 0 bytes"},
		{"credential, longest", &Credential{Envelope: make([]byte, MaxCredential)}, ""},
		{"credential, empty", &Credential{}, "credential of 0 bytes, want 1 to 1024"},
		{"credential, too long", &Credential{Envelope: make([]byte, MaxCredential+1)}, "credential of 1025 bytes"},
		{"revoked, longest", &Revoked{List: make([]byte, MaxRevoked)}, ""},
		{"revoked, empty", &Revoked{}, "list of 0 bytes, want 1 to 524288"},
		{"revoked, too long", &Revoked{List: make([]byte, MaxRevoked+1)}, "list of 524289 bytes"},
		{"scrape request, no swarm", &ScrapeRequest{}, "content id of 0 bytes"},
		{"scrape, most", &Scrape{Clusters: clusters[:MaxClusters]}, ""},
		{"scrape, many", &Scrape{Clusters: clusters}, "1025 clusters, at most 1024"},
		{"scrape, no name", &Scrape{Clusters: make([]ScrapeCluster, 1)}, "cluster name"},
		{"scrape, more whole than there are", &Scrape{Clusters: []ScrapeCluster{{Name: "A", Nodes: 1, Whole: 2}}}, `cluster "A": 2 of 1 nodes`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := AppendFrame(nil, tt.m)
			checkError(t, err, tt.want)
			body, err := encMode.Marshal(tt.m)
			if err != nil {
				return // text that CBOR cannot encode
			}
			if _, err = Decode(TypeOf(tt.m), body); (err == nil) != (tt.want == "") {
				t.Errorf("decode: %v", err)
			}
		})
	}
}

func TestRangeEnd(t *testing.T) {
	if got := (Range{First: 1<<32 - 1, Count: 1<<32 - 1}).End(); got != 1<<33-2 {
		t.Errorf("End is %d", got)
	}
}

func TestRemoteError(t *testing.T) {
	var err error = &RemoteError{Code: CodeBusy}
	checkError(t, err, "(code 5)")
	err = &RemoteError{Code: CodeBusy, Text: "come back later"}
	if err.Error() != "come back later" {
		t.Errorf("got %q", err)
	}
	var remote *RemoteError
	if !errors.As(err, &remote) || remote.Code != CodeBusy {
		t.Error("errors.As does not find the code")
	}
}

func TestPeerIDIsOpaque(t *testing.T) {
	want := PeerID("\x00\xff\n")
	b, err := want.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var got PeerID
	if err := got.UnmarshalBinary(b); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// The largest Measured is as short as a request: trackers read it as one.
func TestMeasuredIsShort(t *testing.T) {
	most := slices.Repeat([]uint32{1<<32 - 1}, MaxWindows)
	m := &Measured{Ago: 1<<32 - 1, Windows: slices.Repeat([]uint32{maxWindow}, MaxWindows)}
	for i := range MaxMeasured {
		name := strings.Repeat("c", MaxCluster-1) + string(rune('a'+i))
		m.Links = append(m.Links, MeasuredLink{Cluster: name, RTT: 1<<32 - 1, Sent: 1<<32 - 1, Lost: 1<<32 - 1, Bytes: most, Queue: most})
	}
	frame, err := AppendFrame(nil, m)
	if err != nil || len(frame) > MaxOpening {
		t.Errorf("%d bytes, want at most %d: %v", len(frame), MaxOpening, err)
	}
}
