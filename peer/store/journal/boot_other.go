//go:build !linux && !darwin

package journal

// CurrentBoot returns zero: the id of this boot of the machine is not known here.
func CurrentBoot() BootID { return BootID{} }
