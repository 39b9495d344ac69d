package proto

import "fmt"

// Credential proves on a membership stream that the sender is in a network. The opener's first
// one contains a pass, later ones a certificate: see package membership.
type Credential struct {
	_ struct{} `cbor:",toarray"`
	// Envelope is the signed envelope, at most [MaxCredential] bytes.
	Envelope []byte
	// Serial is the serial of the sender's newest list of revoked members, 0 for none.
	Serial uint64
}

func (m *Credential) check() error {
	if n := len(m.Envelope); n == 0 || n > MaxCredential {
		return fmt.Errorf("credential of %d bytes, want 1 to %d", n, MaxCredential)
	}
	return nil
}

// Revoked forwards a list of revoked members, on a membership stream.
type Revoked struct {
	_ struct{} `cbor:",toarray"`
	// List is the signed envelope, at most [MaxRevoked] bytes.
	List []byte
}

func (m *Revoked) check() error {
	if n := len(m.List); n == 0 || n > MaxRevoked {
		return fmt.Errorf("list of %d bytes, want 1 to %d", n, MaxRevoked)
	}
	return nil
}
