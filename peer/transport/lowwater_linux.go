package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lowWaterStep is the least rise of the low-water mark that is worth a system call.
const lowWaterStep = 4 << 10

// lowWaterReader reads a socket with SO_RCVLOWAT: the kernel wakes the reader only
// once the socket holds as many bytes as it waits for. One goroutine may use it.
type lowWaterReader struct {
	raw  syscall.RawConn
	mark int // SO_RCVLOWAT as the kernel has it

	// The current read.
	buf  []byte
	want int
	n    int
	err  error
	try  func(fd uintptr) (done bool)
}

func newLowWaterReader(raw syscall.RawConn) *lowWaterReader {
	l := &lowWaterReader{raw: raw, mark: 1}
	l.try = l.tryRead // made once, or each read would allocate it
	return l
}

// read is like [net.Conn.Read]: it returns available bytes. If there are none, it sleeps
// until want bytes have arrived, or the connection ends.
func (l *lowWaterReader) read(b []byte, want int) (int, error) {
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

// tryRead reads without blocking. If no bytes are available it sets the mark. If enough
// bytes arrived before that, the poller wakes the reader immediately.
func (l *lowWaterReader) tryRead(fd uintptr) bool {
	for {
		l.n, l.err = unix.Read(int(fd), l.buf)
		switch {
		case errors.Is(l.err, unix.EINTR):
			continue
		case errors.Is(l.err, unix.EAGAIN):
			l.setMark(int(fd))
			return false
		}
		return true
	}
}

// setMark sets the mark to want, unless it is at want or little below it.
func (l *lowWaterReader) setMark(fd int) {
	if l.want >= l.mark && l.want < l.mark+lowWaterStep {
		return
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, l.want) == nil {
		l.mark = l.want
	}
}
