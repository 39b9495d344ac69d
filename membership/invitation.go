package membership

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/mobgrid/mob/proto"
)

// An Invitation contains all that a node needs to join a network. Its text is one word.
type Invitation struct {
	Network  ID
	Trackers []string // their addresses
	// Grant is the node's grant, and Secret the network's secret. At least one is nil. Both are
	// nil if the grant follows later.
	Grant  *Grant
	Secret *Secret
}

// The text of an Invitation is a prefix, and in base 64 the CBOR of an invitationRecord and the
// first bytes of its hash, which detect a truncated or altered text.
const (
	invitationPrefix    = "join-"
	invitationCheckSize = 4
)

type invitationRecord struct {
	_                       struct{} `cbor:",toarray"`
	Network                 []byte
	Trackers                []string
	Pass, Certificate, Seed []byte
}

// String returns the text form. It contains the secret, if there is one.
func (i *Invitation) String() string {
	r := invitationRecord{Network: i.Network[:], Trackers: i.Trackers}
	if i.Grant != nil {
		r.Pass, r.Certificate = i.Grant.Pass.envelope, i.Grant.Certificate.envelope
	}
	if i.Secret != nil {
		r.Seed = i.Secret.seed
	}
	b, err := proto.EncodeCBOR(&r)
	if err != nil {
		panic(err) // bytes and texts only
	}
	return invitationPrefix + base64.RawURLEncoding.EncodeToString(append(b, invitationCheck(b)...))
}

func invitationCheck(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:invitationCheckSize]
}

// ParseInvitation parses the text form of an Invitation. It does not check the addresses.
func ParseInvitation(text string) (*Invitation, error) {
	text, ok := strings.CutPrefix(text, invitationPrefix)
	if !ok {
		return nil, errors.New("not a line that `mob network show --join` prints")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < invitationCheckSize {
		return nil, errDamagedInvitation
	}
	b, check := b[:len(b)-invitationCheckSize], b[len(b)-invitationCheckSize:]
	if !bytes.Equal(check, invitationCheck(b)) {
		return nil, errDamagedInvitation
	}
	var r invitationRecord
	if err := proto.DecodeCBOR(b, &r); err != nil || len(r.Network) != len(ID{}) || len(r.Trackers) > proto.MaxLinkAddrs {
		return nil, errors.New("the line is invalid, or of another version of mob")
	}
	i := &Invitation{Network: ID(r.Network), Trackers: r.Trackers}
	return i, i.setProof(&r)
}

var errDamagedInvitation = errors.New("the line is damaged: copy all of it")

// setProof sets the grant or the secret.
func (i *Invitation) setProof(r *invitationRecord) (err error) {
	network := i.Network
	switch {
	case len(r.Seed) > 0 && len(r.Certificate) > 0:
		return errors.New("the line is invalid: it has a certificate and a secret")
	case len(r.Seed) > 0:
		if i.Secret, err = secretOf(r.Seed); err == nil {
			network = i.Secret.ID()
		}
	case len(r.Certificate) > 0:
		if i.Grant, err = openGrant(r.Pass, r.Certificate); err == nil {
			network = i.Grant.Certificate.Network
		}
	}
	if err == nil && network != i.Network {
		err = errors.New("it is of another network than the line")
	}
	if err != nil {
		return fmt.Errorf("the line is invalid: %w", err)
	}
	return nil
}
