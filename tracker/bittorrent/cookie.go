package bittorrent

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"
)

// cookieTerm is how long a connection id is good at least, and half of how long at
// most. BEP 15 asks for two minutes.
const cookieTerm = 2 * time.Minute

// cookies makes the connection ids of BEP 15, and knows them again without
// remembering any: an id is a keyed hash of the address and the time. Who sends it
// back has received it there.
type cookies struct{ key [32]byte }

func newCookies() *cookies {
	c := new(cookies)
	_, _ = rand.Read(c.key[:]) // never fails
	return c
}

func (c *cookies) issue(now time.Time, to netip.Addr) uint64 { return c.of(term(now), to) }

func (c *cookies) valid(now time.Time, from netip.Addr, id uint64) bool {
	t := term(now)
	return id == c.of(t, from) || id == c.of(t-1, from)
}

func term(now time.Time) int64 { return now.Unix() / int64(cookieTerm/time.Second) }

func (c *cookies) of(term int64, addr netip.Addr) uint64 {
	mac := hmac.New(sha256.New, c.key[:])
	bytes := addr.As16()
	mac.Write(bytes[:])
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(term)))
	return binary.BigEndian.Uint64(mac.Sum(nil))
}
