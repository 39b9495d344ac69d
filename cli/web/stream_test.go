package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// startStream serves a stream and returns a function that opens it.
func startStream(t *testing.T, every time.Duration, snapshot func(detail string) any) (*Server, func() net.Conn) {
	t.Helper()
	s, err := Listen(Config{Listen: "127.0.0.1:0", Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.every, s.writeTimeout = every, 2*time.Second // more than a reader on a busy machine takes
	s.HandleStream("GET /events", snapshot, strings.ToUpper)
	go func() { _ = s.Serve() }()
	t.Cleanup(func() { s.Close() })
	return s, func() net.Conn {
		c, err := dial(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		fmt.Fprintf(c, "GET /events?detail=x HTTP/1.1\r\nHost: localhost\r\n\r\n")
		return c
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

// TestReaderThatNeverReads checks that a client that does not read is dropped, and another one is not.
func TestReaderThatNeverReads(t *testing.T) {
	var n atomic.Int64
	big := strings.Repeat("x", 64<<10)
	s, open := startStream(t, 5*time.Millisecond, func(string) any { return fmt.Sprint(n.Add(1), big) })
	before := runtime.NumGoroutine()
	good := bufio.NewReaderSize(open(), 1<<20)
	goodReads := make(chan int, 1)
	go func() {
		lines := 0
		for {
			if _, err := good.ReadString('\n'); err != nil {
				goodReads <- lines
				return
			}
			lines++
		}
	}()
	for range 10 {
		c := open()
		if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil { // it is open
			t.Fatal(err)
		}
	}
	eventually(t, "readers that never read to be dropped", func() bool { return s.streams.Used() == 1 })
	eventually(t, "their goroutines to end", func() bool { return runtime.NumGoroutine() <= before+5 })
	at := n.Load()
	eventually(t, "the other client to continue", func() bool { return n.Load() > at+5 })
	s.Close()
	if lines := <-goodReads; lines < 10 {
		t.Errorf("the one that reads got %d lines", lines)
	}
}

func TestStreamsOfAddressBounded(t *testing.T) {
	var made, asked atomic.Int64
	_, open := startStream(t, time.Hour, func(detail string) any {
		made.Add(1)
		if detail == "x" {
			asked.Add(1)
		}
		return "the same"
	})
	for range maxStreams / 2 {
		r := bufio.NewReader(open())
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		lines := bufio.NewScanner(resp.Body)
		var got []string
		for len(got) < 5 && lines.Scan() {
			got = append(got, lines.Text())
		}
		if text := strings.Join(got, "|"); text != `event: hello|data: {"owner":false}||data: "THE SAME"|` {
			t.Fatalf("the stream started with %s", text)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(open()), nil)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one too many from an address: %v, %v", resp, err)
	}
	if made.Load() != asked.Load() || made.Load() != 1 {
		t.Errorf("%d events were made", made.Load())
	}
}

// TestStreamWithToken checks that only a client with the token receives the snapshot unchanged.
func TestStreamWithToken(t *testing.T) {
	s, _ := startStream(t, time.Hour, func(detail string) any { return "id of " + detail })
	for token, want := range map[string]string{"": `data: "ID OF X"`, s.token.text: `data: "id of x"`} {
		c, err := dial(s)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /events?detail=x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
		lines := bufio.NewScanner(c)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), `data: "`) {
		}
		if lines.Text() != want {
			t.Errorf("token %q: the event is %s, want %s", token, lines.Text(), want)
		}
	}
}

// TestStreamsShareEvents checks that an event is made once for all clients with one detail.
func TestStreamsShareEvents(t *testing.T) {
	var made atomic.Int64
	_, open := startStream(t, time.Hour, func(string) any { return made.Add(1) })
	for range 3 {
		lines := bufio.NewScanner(open())
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: 1") {
		}
		if lines.Text() != "data: 1" {
			t.Errorf("the event is %s", lines.Text())
		}
	}
}

// TestDetailsAreBounded checks that clients with ever new details cause a bounded number of snapshots.
func TestDetailsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		f := &feed{
			snapshot: func(detail string) any { made++; return detail },
			public:   strings.ToUpper, every: time.Second, last: map[string]*event{},
		}
		for i := range 1000 {
			detail := fmt.Sprintf("%q", fmt.Sprint("detail", i))
			if i >= maxDetails {
				detail = `""`
			}
			if got := string(f.now(fmt.Sprint("detail", i), true)); got != "data: "+detail+"\n\n" {
				t.Fatalf("the event of detail %d is %s", i, got)
			}
		}
		if made != maxDetails+1 {
			t.Errorf("%d snapshots in a second", made)
		}
		time.Sleep(3 * time.Second)
		if got := string(f.now("next", true)); got != "data: \"next\"\n\n" {
			t.Errorf("after that the event is %s", got)
		}
	})
}

func TestStreamSendsChanges(t *testing.T) {
	var n atomic.Int64
	_, open := startStream(t, 5*time.Millisecond, func(string) any { return n.Add(1) / 10 })
	r := bufio.NewReader(open())
	last := -1
	for got := 0; got < 5; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok || bytes.Contains(data, []byte("owner")) {
			continue
		}
		var v int
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		if v == last {
			t.Errorf("%d came twice", v)
		}
		last = v
		got++
	}
}

// One address has half of the connections at most, and they are free again when they end.
func TestConnectionsAreBounded(t *testing.T) {
	s, err := Listen(Config{Listen: "127.0.0.1:0", Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.HandleOpen("GET /healthz", http.NotFoundHandler())
	go func() { _ = s.Serve() }()
	defer s.Close()
	answered := func() bool {
		c, err := dial(s)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		_, err = http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil
	}
	var held []net.Conn
	eventually(t, "one address to have all it may have", func() bool {
		for range maxConns / 2 { // the server has closed earlier ones after headerTimeout
			c, err := dial(s)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, c)
		}
		return !answered()
	})
	for _, c := range held {
		c.Close()
	}
	eventually(t, "room", answered)
}
