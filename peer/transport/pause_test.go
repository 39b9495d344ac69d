package transport

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func TestConnectionSurvivesPausedPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		resume := make(chan struct{})
		got := make(chan error, 1)
		go func() {
			<-resume
			m, err := newMuxer().NewConn(there, true, nil)
			if err == nil {
				defer m.Close()
				s, failed := m.AcceptStream()
				if err = failed; err == nil {
					_, err = io.ReadFull(s, make([]byte, 100_000))
				}
			}
			got <- err
		}()
		m, err := newMuxer().NewConn(here, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		s, err := m.OpenStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write(make([]byte, 100_000)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeTimeout/2 - time.Second)
		close(resume)
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}
