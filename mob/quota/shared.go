package quota

import "sync"

// Shared is a [Quota] for concurrent use.
type Shared[K comparable] struct {
	mu    sync.Mutex
	quota *Quota[K]
}

// NewShared returns the quota of an empty table of size slots.
func NewShared[K comparable](size int) *Shared[K] { return &Shared[K]{quota: New[K](size)} }

// Take takes a slot for k, and reports whether k may have it. release frees the slot; further calls
// have no effect.
func (s *Shared[K]) Take(k K) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quota.Take(k) {
		return nil, false
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.quota.Release(k)
	}), true
}

// Used returns the number of slots that are held.
func (s *Shared[K]) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quota.Used()
}
