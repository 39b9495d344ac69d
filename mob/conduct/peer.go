package conduct

import "time"

// Rules are the constants of the package.
type Rules struct {
	// Stall is the time that a peer may send no byte of a request before the requests go to other peers.
	// Dead is the time that it may be silent altogether.
	Stall, Dead time.Duration
	// Strikes is the number of strikes that ban a peer.
	Strikes int
}

// Peer is the behavior of a joined peer. Change Stalled, Rationed and Silent where Holds and Claims are
// counted.
type Peer struct {
	*Record
	Pings    Answers
	Stalled  bool      // it left requests unanswered, and has not sent enough blocks since
	Rationed bool      // see Record.
	Silent   bool      // it sent nothing for a time
	LastSeen time.Time // of any message or block

	rules      *Rules
	near       bool
	lastBlock  time.Time // or first request
	pauseUntil time.Time // the next request after a stall
	proof      int       // blocks to send until Stalled ends
	rejected   time.Time // last reject
	rejects    int       // in a row
	owed       int       // haves that the node asked for and that may come yet
}

// NewPeer returns the Peer of a new session. It may be in the node's site.
func NewPeer(l *Rules, r *Record, near bool, now time.Time) Peer {
	return Peer{Record: r, LastSeen: now, rules: l, near: near}
}

// Holds reports whether the pieces of a peer count for the groups that it shares with the node.
func (p *Peer) Holds() bool { return p.near && !p.Stalled && !p.Rationed }

// Claims reports whether the claims of a peer count for these groups.
func (p *Peer) Claims() bool { return p.Holds() && !p.Silent }

// maxProof bounds the blocks that a peer which stalled repeatedly must send, 1 << maxProof.
const maxProof = 6

// Stall records that a peer left requests unanswered. A little is requested of it again later. One
// block ends the first stall, and each further stall takes twice as many.
func (p *Peer) Stall(now time.Time) {
	p.pauseUntil = now.Add(p.rules.Stall)
	p.stalls++
	p.Restall()
}

// HasStalled reports whether a peer ever left requests unanswered, also in an earlier session.
func (p *Peer) HasStalled() bool { return p.stalls > 0 }

// Restall has a peer prove that it answers requests.
func (p *Peer) Restall() { p.Stalled, p.proof = true, 1<<min(p.stalls-1, maxProof) }

// Requested records the first request of several.
func (p *Peer) Requested(now time.Time) { p.lastBlock = now }

// Delivered records a block, and reports whether it is the last that the peer has to prove.
func (p *Peer) Delivered(now time.Time) (proven bool) {
	p.LastSeen, p.lastBlock, p.rejects = now, now, 0
	if !p.Stalled {
		return false
	}
	p.proof--
	return p.proof <= 0
}

// maxRejects is the number of rejects in a row that cause a pause. A rejected piece
// is not requested of the peer again. With short pieces, a pause after the first reject would cost more.
const maxRejects = 4

// Rejected records a reject.
func (p *Peer) Rejected(now time.Time) {
	p.rejects++
	p.rejected = now
}

// Paused reports whether nothing is to be requested at present. After rejects that lasts for pause.
func (p *Peer) Paused(now time.Time, pause time.Duration) bool {
	return p.Stalled && now.Before(p.pauseUntil) || p.rejects >= maxRejects && now.Sub(p.rejected) < pause
}

// ToRation reports whether a peer is to be rationed, by its pieces.
func (p *Peer) ToRation() bool { return p.bad >= p.good+p.rules.Strikes }

// MayStart reports whether a piece may be started with a peer, which has requests or is not busy.
func (p *Peer) MayStart(busy bool) bool {
	return len(p.reported) < p.rules.Strikes && !(p.Rationed && busy)
}

// A Verdict is a change that the time without a message or block calls for.
type Verdict uint8

// The verdicts.
const (
	Fine       Verdict = iota // nothing changes
	FellSilent                // other members take over its part
	Stalled                   // its requests go to other peers
	Dead                      // its session ends
)

// Verdict returns what the silence of a peer calls for. Slack is the time that its answers and the node itself may take. A node that
// fetches minds silence. Owed is the expected time of the requested bytes in seconds: 0 if there are none,
// and less than 0 if it is unknown.
func (p *Peer) Verdict(now time.Time, slack time.Duration, fetches bool, owed float64) Verdict {
	silence := now.Sub(p.LastSeen)
	switch {
	case p.near && !p.Silent && fetches && silence > 2*p.rules.Stall+slack:
		return FellSilent
	case silence > p.rules.Dead+slack:
		return Dead
	case owed != 0 && now.Sub(p.lastBlock) > p.stallTimeout(owed)+slack:
		return Stalled
	}
	return Fine
}

// stallTimeout returns the time that a busy peer may send nothing: longer if its rate explains it, and shorter
// for the first block of a member of the site.
func (p *Peer) stallTimeout(owed float64) time.Duration {
	switch {
	case owed > 0:
		return max(p.rules.Stall, time.Duration(4*owed*float64(time.Second)))
	case p.near:
		return 2 * p.rules.Stall / 3
	}
	return p.rules.Stall
}
