package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// worthMarking is by how many bytes a mark must rise to be worth a system call.
const worthMarking = 4 << 10

// lowWater reads from a socket, and has the kernel wake the reader only once so much
// has come as it waits for. One goroutine may use it.
type lowWater struct {
	raw  syscall.RawConn
	mark int // as the kernel has it

	// The read that is under way.
	buf  []byte
	want int
	n    int
	err  error
	try  func(fd uintptr) (done bool)
}

func newLowWater(raw syscall.RawConn) *lowWater {
	l := &lowWater{raw: raw, mark: 1}
	l.try = l.tryRead // made once: it would be allocated for each read
	return l
}

// read is [net.Conn.Read]: it returns what is there. While nothing is, it sleeps until
// want bytes are, or the connection ends.
func (l *lowWater) read(b []byte, want int) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	l.buf, l.want = b, want
	err := l.raw.Read(l.try)
	l.buf = nil
	switch {
	case err != nil:
		return 0, err
	case l.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", l.err)}
	case l.n == 0:
		return 0, io.EOF
	}
	return l.n, nil
}

// tryRead does not wait. When it must, the mark is set; what has come in the meantime
// ends the wait, if it is enough.
func (l *lowWater) tryRead(fd uintptr) bool {
	for {
		l.n, l.err = unix.Read(int(fd), l.buf)
		switch {
		case errors.Is(l.err, unix.EINTR):
			continue
		case errors.Is(l.err, unix.EAGAIN):
			l.set(int(fd))
			return false
		}
		return true
	}
}

// set has the mark at what is wanted, or a little below.
func (l *lowWater) set(fd int) {
	if l.want >= l.mark && l.want < l.mark+worthMarking {
		return
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, l.want) == nil {
		l.mark = l.want
	}
}
