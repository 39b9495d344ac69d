package stream

import "github.com/libp2p/go-libp2p/core/crypto"

// SwarmOf returns the key under which the nodes of a stream announce themselves at its begin.
func SwarmOf(key crypto.PubKey) []byte {
	return epochLink(key, 0).Manifest.Bytes()
}

// PieceSize is the length of the pieces of a stream.
const PieceSize = pieceSize

// SetMemory and SetSpool bound what the sender keeps, in bytes.
func (s *Sender) SetMemory(bytes int64) { s.space.setMemory(bytes) }

// SetSpool does so for the spool.
func (s *Sender) SetSpool(bytes int64) {
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	s.space.maxSpool = int(bytes / pieceSize)
}

// SetMemory bounds what the receiver keeps in memory, in bytes.
func (r *Receiver) SetMemory(bytes int64) { r.space.setMemory(bytes) }

func (s *space) setMemory(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxMemory = int(bytes / pieceSize)
}

// Used returns the bytes of memory and of the spool in use.
func (r *Receiver) Used() (memory, spool int64) { return r.space.used() }

// SetEpoch sets the pieces of an epoch. It must be called before Run, and before the first record.
func (s *Sender) SetEpoch(pieces uint64) { s.epoch = pieces }

// SetEpoch does so at a receiver.
func (r *Receiver) SetEpoch(pieces uint64) { r.epoch = pieces }

// Failed returns why the receiver has failed, nil while it has not.
func (r *Receiver) Failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// SenderStats is the state of a [Sender].
type SenderStats struct {
	Memory, Spool int64 // bytes in use
	Full          bool  // no more is read, since memory and spool are full
}

// Stats returns the state.
func (s *Sender) Stats() (st SenderStats) {
	st.Memory, st.Spool = s.space.used()
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	st.Full = s.space.memory >= s.space.maxMemory && s.space.spool >= s.space.maxSpool
	return st
}

// used returns the reserved bytes of memory and the used bytes of the spool.
func (s *space) used() (memory, spool int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.memory) * pieceSize, int64(s.spool) * pieceSize
}
