package metainfo

import "github.com/mobgrid/mob/proto"

// Codec makes and checks info dictionaries, for a node that only keeps them.
type Codec struct{}

// Build is [Build], of which it returns the bytes.
func (Codec) Build(m *proto.Manifest, sums []byte) ([]byte, error) {
	t, err := Build(m, sums)
	if err != nil {
		return nil, err
	}
	return t.Info, nil
}

// Check is [ParseInfo] and [Torrent.Match].
func (Codec) Check(m *proto.Manifest, info []byte) error {
	t, err := ParseInfo(info)
	if err != nil {
		return err
	}
	return t.Match(m)
}

// Manifest is [ParseInfo] and [Torrent.Manifest].
func (Codec) Manifest(info []byte) (*proto.Manifest, error) {
	t, err := ParseInfo(info)
	if err != nil {
		return nil, err
	}
	return t.Manifest()
}
