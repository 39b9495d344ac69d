package conduct

import "time"

// Record has the past of a node. It outlasts a session, so that joining again does not clear a node.
type Record struct {
	Banned bool
	DeadAt time.Time // last time that a session was dropped for silence

	good     int // valid pieces
	bad      int // pieces that failed verification
	strikes  int
	stalls   int // times that it left requests unanswered
	badOnes  map[int]bool
	reported map[int]time.Time // of badOnes: the time of a report without an answer
	alarms   bucket            // its reports of valid pieces
	work     bucket            // see Peer.Affords
}

const (
	// goodPerStrike is the number of good pieces that make up for a strike.
	goodPerStrike = 32
	// maxAlarms is the number of reports of valid pieces that a peer may send at a time, alarmRate the
	// number per second. Each costs the node the hash of a piece.
	maxAlarms = 16
	alarmRate = 1.0 / 60
)

// AddGood counts a valid piece.
func (r *Record) AddGood() { r.good++ }

// AddBad records a bad piece. The node is at fault if the piece is forged, or was bad before.
func (r *Record) AddBad(piece int, forged bool) {
	if forged || r.badOnes[piece] {
		r.strikes++
	}
	r.bad++
	if r.badOnes == nil {
		r.badOnes, r.reported = map[int]bool{}, map[int]time.Time{}
	}
	r.badOnes[piece] = true
}

// Strike records a strike.
func (r *Record) Strike() { r.strikes++ }

// StruckOut reports whether a node has too many strikes.
func (r *Record) StruckOut(l *Rules) bool { return r.strikes >= l.Strikes+r.good/goodPerStrike }

// MostlyBad reports whether the limit of bad pieces is reached, and more were bad than good.
func (r *Record) MostlyBad(l *Rules) bool { return r.bad >= l.Strikes && r.bad > r.good }

// Reported records that the node was sent a report of a bad piece.
func (r *Record) Reported(now time.Time, piece int) { r.reported[piece] = now }

// Answered reports whether a report of a bad piece was outstanding, and ends it.
func (r *Record) Answered(piece int) bool {
	_, ok := r.reported[piece]
	delete(r.reported, piece)
	return ok
}

// ForgetReports ends the outstanding reports of a node that left. When it joins it announces its pieces again.
func (r *Record) ForgetReports() { clear(r.reported) }

// StrikeUnanswered adds a strike for each report that was not answered within the limit.
func (r *Record) StrikeUnanswered(now time.Time, limit time.Duration) {
	for i, at := range r.reported {
		if now.Sub(at) > limit {
			delete(r.reported, i)
			r.strikes++
		}
	}
}

// AllowsAlarm reports whether another report of a valid piece is within the limits.
func (r *Record) AllowsAlarm(now time.Time) bool { return r.alarms.take(now, 1, maxAlarms, alarmRate) }
