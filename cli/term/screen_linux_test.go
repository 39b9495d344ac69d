package term

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a terminal of a size. control has what is written to it.
func openTerminal(t *testing.T, size *unix.Winsize) (control, terminal *os.File) {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { control.Close() })
	fd := int(control.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	return control, terminal
}

// TestTerminalWithoutRows draws on a terminal that reports columns and no rows, as after `stty rows 0`.
func TestTerminalWithoutRows(t *testing.T) {
	_, terminal := openTerminal(t, &unix.Winsize{Col: 80})
	if s := New(terminal, func(string) string { return "" }); !s.Draw(Text("picture")) {
		t.Error("it is not a terminal")
	}
}

// TestPictureLongerThanTerminal draws ten lines on a terminal of four.
func TestPictureLongerThanTerminal(t *testing.T) {
	control, terminal := openTerminal(t, &unix.Winsize{Col: 80, Row: 4})
	if !New(terminal, func(string) string { return "" }).Draw(State{Notes: slices.Repeat([]string{"note"}, 9)}) {
		t.Error("it is not a terminal")
	}
	r, got := bufio.NewReader(control), ""
	for range 3 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got += line
	}
	if want := "\r\n  note\r\n… 8 more lines\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
