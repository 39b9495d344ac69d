package compare

import (
	"fmt"

	"github.com/mobgrid/mob/mob"
	"github.com/mobgrid/mob/peer/coded"
	"github.com/mobgrid/mob/proto"
)

// simCodedK is how many source blocks a generation of a coded transfer has in the
// simulator when nothing is said. A node would choose by how fast its machine codes, and
// a simulation has to be the same on every machine.
const simCodedK = 16

// code makes the transfer a coded one, with generations of k. The content is cut as a
// node cuts it.
func (s *simulated) code(k int) error {
	m := &proto.Manifest{PieceLength: uint32(s.cfg.PieceLength), Entries: []proto.Entry{{Size: s.cfg.Length}}}
	c, err := proto.NewCoding(m, k)
	if err != nil {
		return err
	}
	s.name = fmt.Sprintf("%s:coded=%d", own, k)
	s.cfg.PieceLength = c.Block
	s.cfg.Coding = mob.Coding{Blocks: c.K, Names: c.Names(), Live: coded.Live(c)}
	return nil
}
