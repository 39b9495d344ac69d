package proto

import "fmt"

// Revoked passes on a list of revoked members, on a membership stream.
type Revoked struct {
	_ struct{} `cbor:",toarray"`
	// List is the signed envelope, at most [MaxRevoked] bytes.
	List []byte
}

// Type implements [Message].
func (*Revoked) Type() Type { return TypeRevoked }

func (m *Revoked) check() error {
	if n := len(m.List); n == 0 || n > MaxRevoked {
		return fmt.Errorf("list of %d bytes, want 1 to %d", n, MaxRevoked)
	}
	return nil
}
