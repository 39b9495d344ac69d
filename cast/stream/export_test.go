package stream

import "github.com/libp2p/go-libp2p/core/crypto"

// SwarmOf returns the key under which the nodes of a stream announce themselves.
func SwarmOf(key crypto.PubKey) []byte {
	_, swarm, err := streamName(key)
	if err != nil {
		panic(err)
	}
	return swarm
}

// SetMemory and SetSpool bound what the sender keeps, in bytes.
func (s *Sender) SetMemory(bytes int64) { s.space.setMemory(bytes) }

// SetSpool does so for the spool.
func (s *Sender) SetSpool(bytes int64) {
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	s.space.maxSpool = int(bytes / blockSize)
}

// SetMemory bounds what the receiver keeps in memory, in bytes.
func (r *Receiver) SetMemory(bytes int64) { r.space.setMemory(bytes) }

func (s *space) setMemory(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxMemory = int(bytes / blockSize)
}

// SetSize has all segments be of one size in bytes. It must be called before Run.
func (s *Sender) SetSize(bytes int64) { s.size = bytes }

// Failed returns why the receiver has failed, nil while it has not.
func (r *Receiver) Failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
