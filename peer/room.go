package peer

// checkRoom fails with a [*NoRoomError] if what is left to fetch does not fit on the disk: if room
// needs more bytes than are free. What other programs and transfers will write is not known, so the
// disk may be full later all the same.
func checkRoom(root string, room func() (need, free int64, known bool)) error {
	need, free, known := room()
	if !known || need <= free {
		return nil
	}
	return &NoRoomError{Path: root, Need: need, Free: free}
}
