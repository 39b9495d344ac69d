package proto

// Credential proves on a membership stream that the sender is in a network. The opener's first
// one contains a pass, later ones a certificate: see package membership.
type Credential struct {
	_ struct{} `cbor:",toarray"`
	// Envelope is the signed envelope, at most [MaxCredential] bytes.
	Envelope []byte
	// Serial is the serial of the sender's newest list of revoked members, 0 for none.
	Serial uint64
}

func (m *Credential) check() error { return checkSize("credential", len(m.Envelope), MaxCredential) }

// Revoked forwards a list of revoked members, on a membership stream.
type Revoked struct {
	_ struct{} `cbor:",toarray"`
	// List is the signed envelope, at most [MaxRevoked] bytes.
	List []byte
}

func (m *Revoked) check() error { return checkSize("list", len(m.List), MaxRevoked) }
