package journal

import (
	"crypto/sha256"
	"syscall"
)

// CurrentBoot is the id of this boot of the machine. The time of the boot would
// not do: it moves when the clock is set.
func CurrentBoot() BootID {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil || id == "" {
		return BootID{}
	}
	sum := sha256.Sum256([]byte(id))
	return BootID(sum[:16])
}
