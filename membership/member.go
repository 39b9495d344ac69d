package membership

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Config configures a Member.
type Config struct {
	// Network is the network, Secret its secret, and Grant the member's grant. A member has Secret or
	// Grant. With Secret it signs its own grant, with all roles.
	Network ID
	Secret  *Secret
	Grant   *Grant
	// Self is the member, and Cluster its cluster. If empty, it is the grant's cluster.
	Self    peer.ID
	Cluster string
	// Lists are initial lists of revoked members.
	Lists Lists
	// ListFile stores the lists of revoked members. WriteFile replaces it atomically. If empty,
	// lists are not stored.
	ListFile  string
	WriteFile func(path string, b []byte, mode os.FileMode) error
	// Now is the clock. Nil means [time.Now].
	Now func() time.Time
	// Log is for the operator. Nil means no log.
	Log *slog.Logger
}

// ownValidity is the validity of a grant that a member signed itself. It is renewed when
// half of it is left, which tolerates wrong clocks.
const ownValidity = 24 * time.Hour

// A Member is the state of one node in its network. Its methods may be called from any goroutine.
type Member struct {
	cfg Config

	grant     atomic.Pointer[Grant]
	rejection atomic.Value // string: why the last member to answer rejected this node, empty if it accepted
	onChange  atomic.Pointer[func()]

	mu    sync.Mutex
	lists Lists

	storing sync.Mutex // held while the lists are written
}

// New returns a member. It fails if its grant is not valid or was revoked.
func New(cfg Config) (*Member, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Secret != nil {
		cfg.Network = cfg.Secret.ID()
	}
	m := &Member{cfg: cfg}
	err := m.loadLists()
	if err != nil {
		return nil, err
	}
	for _, l := range cfg.Lists {
		if _, err := m.Adopt(l); err != nil {
			return nil, err
		}
	}
	grant := cfg.Grant
	if cfg.Secret != nil {
		grant, err = m.sign()
	} else {
		err = m.checkGrant(grant)
		m.cfg.Cluster = grant.Certificate.Cluster
	}
	if err != nil {
		return nil, err
	}
	m.grant.Store(grant)
	return m, m.Problem()
}

// loadLists loads the stored lists.
func (m *Member) loadLists() error {
	if m.cfg.ListFile == "" {
		return nil
	}
	ls, err := ReadLists(m.cfg.ListFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if ls[0].Network != m.cfg.Network {
		return fmt.Errorf("%s: %w: remove it to join this network", m.cfg.ListFile, errOtherList)
	}
	m.lists = ls
	return nil
}

var errOtherList = errors.New("the list of revoked members is of another network")

func (m *Member) sign() (*Grant, error) {
	now := m.cfg.Now()
	return m.cfg.Secret.Sign(Certificate{
		Peer: m.cfg.Self, Cluster: m.cfg.Cluster, Roles: allRoles, From: now, To: now.Add(ownValidity),
	})
}

// checkGrant fails unless a grant is this node's and valid.
func (m *Member) checkGrant(g *Grant) error {
	c := g.Certificate
	switch {
	case c.Network != m.cfg.Network:
		return fmt.Errorf("the certificate is of the network %s, not of %s", c.Network, m.cfg.Network)
	case c.Peer != m.cfg.Self:
		return fmt.Errorf("the certificate is of the node %s, and this one is %s: `mob network sign FILE %s --cluster NAME`",
			c.Peer, m.cfg.Self, m.cfg.Self)
	case m.cfg.Cluster != "" && c.Cluster != m.cfg.Cluster:
		return fmt.Errorf("the certificate is for the cluster %s, not %s: use --cluster %s, or have another one signed",
			c.Cluster, m.cfg.Cluster, c.Cluster)
	}
	return c.checkTime(m.cfg.Now())
}

// Network returns the network's id.
func (m *Member) Network() ID { return m.cfg.Network }

// Log returns the log of the configuration.
func (m *Member) Log() *slog.Logger { return m.cfg.Log }

// Signs reports whether this node has the secret.
func (m *Member) Signs() bool { return m.cfg.Secret != nil }

// OnChange registers f, which is called after each change of the grant or the lists, in the
// goroutine that made the change.
func (m *Member) OnChange(f func()) { m.onChange.Store(&f) }

func (m *Member) changed() {
	if f := m.onChange.Load(); f != nil {
		(*f)()
	}
}

// Grant returns this node's grant.
func (m *Member) Grant() *Grant { return m.grant.Load() }

// Renew renews the grant if this node has the secret and at most half of the validity is left.
func (m *Member) Renew() error {
	if m.cfg.Secret == nil {
		return nil
	}
	c, now := m.Grant().Certificate, m.cfg.Now()
	if left := c.To.Sub(now); left > ownValidity/2 && left <= ownValidity {
		return nil
	}
	g, err := m.sign()
	if err != nil {
		return err
	}
	m.grant.Store(g)
	m.changed()
	return nil
}

// SetGrant replaces the grant, and reports whether it changed.
func (m *Member) SetGrant(g *Grant) (bool, error) {
	if err := m.checkGrant(g); err != nil {
		return false, err
	}
	old := m.grant.Swap(g)
	same := bytes.Equal(g.Certificate.envelope, old.Certificate.envelope)
	if !same {
		m.changed()
	}
	return !same, nil
}

// VerifyPass opens the pass of a peer, and fails unless the peer is a member.
func (m *Member) VerifyPass(b []byte, from peer.ID) error {
	c, err := openPass(b)
	if err != nil {
		return err
	}
	return m.check(c, from)
}

// Verify opens the certificate of a peer, and fails unless the peer is a member.
func (m *Member) Verify(b []byte, from peer.ID) (*Certificate, error) {
	c, err := openCertificate(b)
	if err != nil {
		return nil, err
	}
	return c, m.check(c, from)
}

// Check fails if a verified certificate is no longer valid.
func (m *Member) Check(c *Certificate) error { return m.check(c, c.Peer) }

func (m *Member) check(c *Certificate, from peer.ID) error {
	switch err := c.checkTime(m.cfg.Now()); {
	case c.Network != m.cfg.Network:
		return errors.New("the certificate is of another network")
	case c.Peer != from:
		return errors.New("the certificate is of another node")
	case err != nil:
		return err
	case m.Lists().Has(from):
		return errors.New("the certificate was revoked")
	}
	return nil
}

// Problem returns an error if other members reject this node.
func (m *Member) Problem() error {
	if err := m.Check(m.Grant().Certificate); err != nil {
		return fmt.Errorf("this node is not a member of its network: %w", err)
	}
	return nil
}

// SetRejection records why another member rejected this node. An empty reason records that it accepted it.
func (m *Member) SetRejection(reason string) { m.rejection.Store(reason) }

// Rejection returns why the last member to answer rejected this node, or "" if it
// accepted it. [Member.Problem] may not know the reason.
func (m *Member) Rejection() string {
	reason, _ := m.rejection.Load().(string)
	return reason
}

// Lists returns the lists of revoked members.
func (m *Member) Lists() Lists {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lists
}

// Adopt adds a list, and reports whether it was new: newer than all lists, or with members that no list
// names. Members of earlier lists stay revoked.
func (m *Member) Adopt(l *List) (bool, error) {
	if l.Network != m.cfg.Network {
		return false, errOtherList
	}
	m.mu.Lock()
	lists, isNew, err := m.lists.add(l)
	if len(lists) > maxLists {
		err = ErrTooManyLists
	} else {
		m.lists = lists
	}
	m.mu.Unlock()
	if err != nil || !isNew {
		return false, err
	}
	m.changed()
	if err := m.store(); err != nil {
		return true, fmt.Errorf("store the list of revoked members: %w", err)
	}
	return true, nil
}

func (m *Member) store() error {
	if m.cfg.ListFile == "" {
		return nil
	}
	m.storing.Lock()
	defer m.storing.Unlock()
	return m.cfg.WriteFile(m.cfg.ListFile, m.Lists().PEM(), 0o600)
}

// AdoptEnvelope is like Adopt for a list that a member forwarded.
func (m *Member) AdoptEnvelope(b []byte) (bool, error) {
	if slices.ContainsFunc(m.Lists(), func(l *List) bool { return bytes.Equal(l.envelope, b) }) {
		return false, nil
	}
	l, err := openList(b)
	if err != nil {
		return false, err
	}
	return m.Adopt(l)
}
