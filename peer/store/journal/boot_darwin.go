package journal

import (
	"crypto/sha256"
	"syscall"
)

// CurrentBoot returns the id of this boot of the machine, or zero if it is not known.
// The time of the boot does not identify it, since it moves when the clock is set.
func CurrentBoot() BootID {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil || id == "" {
		return BootID{}
	}
	sum := sha256.Sum256([]byte(id))
	return BootID(sum[:16])
}
