// Package conduct records how the peers of a node behave: whether they answer, deliver what they claim, and
// send valid pieces.
//
// A disk may corrupt a piece at an honest peer, so a single bad piece is not an offense. The node reports it
// with a Bad message. The peer checks its copy, and withdraws the piece or announces it again. It gets a strike
// if it does not answer, if it announces the piece again and sends it bad again, or if a block proves that
// the peer is at fault. Too many strikes ban it. A peer that sent more bad pieces than good ones is rationed: it is
// asked last, for one piece at a time, and its pieces do not count for its cluster.
//
// Pieces and claims of a member keep other members from fetching them over the WAN. They do not count while the member
// is silent, leaves requests unanswered or is rationed. The time that it may take follows the answers
// of the member and of its cluster, so that a slow member is only late.
//
// A [Record] outlasts the sessions of a node, a [Peer] is one session, and a [Book] has the facts about all
// peers. None is safe for concurrent use.
package conduct
