package membership

import (
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/mobgrid/mob/proto"
)

// A Certificate is the signed statement that a node is a member of a network. It is immutable.
type Certificate struct {
	Network ID
	Peer    peer.ID
	// Cluster and Roles are empty in a pass.
	Cluster  string
	Roles    Roles
	From, To time.Time

	envelope []byte
}

// A Grant is a certificate and the pass that is sent before it.
type Grant struct{ Pass, Certificate *Certificate }

// maxClockSkew is the allowed difference between the clocks of two members.
const maxClockSkew = 150 * time.Minute

// Envelope returns the signed form.
func (c *Certificate) Envelope() []byte { return c.envelope }

type passRecord struct {
	_        struct{} `cbor:",toarray"`
	Peer     []byte
	From, To uint64
}

type certificateRecord struct {
	_        struct{} `cbor:",toarray"`
	Peer     []byte
	Cluster  string
	Roles    uint64
	From, To uint64
}

const (
	passType        = "/mob/pass/1"
	certificateType = "/mob/certificate/1"
)

// openPass checks the signature of a pass and decodes it.
func openPass(b []byte) (*Certificate, error) {
	var r passRecord
	network, err := open(b, passType, &r)
	if err != nil {
		return nil, fmt.Errorf("invalid pass: %w", err)
	}
	c := &Certificate{Network: network, From: seconds(r.From), To: seconds(r.To), envelope: b}
	return c, c.setPeer(r.Peer)
}

// openCertificate checks the signature of a certificate and decodes it.
func openCertificate(b []byte) (*Certificate, error) {
	var r certificateRecord
	network, err := open(b, certificateType, &r)
	if err != nil {
		return nil, fmt.Errorf("invalid certificate: %w", err)
	}
	if err := proto.CheckCluster(r.Cluster); err != nil {
		return nil, fmt.Errorf("invalid certificate: %w", err)
	}
	if r.Roles == 0 || Roles(r.Roles)&^allRoles != 0 {
		return nil, errors.New("invalid certificate: unknown roles")
	}
	c := &Certificate{
		Network: network, Cluster: r.Cluster, Roles: Roles(r.Roles),
		From: seconds(r.From), To: seconds(r.To), envelope: b,
	}
	return c, c.setPeer(r.Peer)
}

func (c *Certificate) setPeer(b []byte) error {
	id, err := peer.IDFromBytes(b)
	if err != nil || len(b) > proto.MaxPeerID {
		return errors.New("invalid certificate: no peer id")
	}
	c.Peer = id
	return nil
}

// maxTime bounds the times of certificates, in seconds: the year 9999.
const maxTime = 253402300799

func seconds(s uint64) time.Time { return time.Unix(int64(min(s, maxTime)), 0).UTC() }

// CheckCluster returns an error unless a node with this certificate may claim a cluster. A node without one, outside
// networks, may claim any.
func (c *Certificate) CheckCluster(name string) error {
	if c != nil && name != c.Cluster {
		return fmt.Errorf("the node claims the cluster %s, and its certificate is for %s", name, c.Cluster)
	}
	return nil
}

func (c *Certificate) checkTime(now time.Time) error {
	switch {
	case now.Add(maxClockSkew).Before(c.From):
		return fmt.Errorf("the certificate is not valid before %s: are the clocks right?", c.From.Format(time.RFC3339))
	case now.Add(-maxClockSkew).After(c.To):
		return fmt.Errorf("the certificate expired at %s", c.To.Format(time.RFC3339))
	}
	return nil
}

// Of returns the certificate that the remote side of a stream or a connection has proved, or nil
// if this node is not in a network.
func Of(stream any) *Certificate {
	if s, ok := stream.(interface{ Certificate() *Certificate }); ok {
		return s.Certificate()
	}
	return nil
}
