package journal

import (
	"crypto/sha256"
	"os"
)

// CurrentBoot returns the id of this boot of the machine, or zero if it is not known.
func CurrentBoot() BootID {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) == 0 {
		return BootID{}
	}
	sum := sha256.Sum256(id)
	return BootID(sum[:16])
}
