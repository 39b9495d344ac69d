package transport

import (
	"bytes"
	"encoding/hex"
)

// trafficSecrets has the secrets of both directions of a TLS 1.3 connection. It is the
// writer of a key log, which is how crypto/tls tells them; they stay in memory.
type trafficSecrets struct{ client, server []byte }

// Write implements [io.Writer]. It takes a line: a label, the client's random, a secret.
func (s *trafficSecrets) Write(line []byte) (int, error) {
	fields := bytes.Fields(line)
	if len(fields) != 3 {
		return len(line), nil
	}
	var secret *[]byte
	switch string(fields[0]) {
	case "CLIENT_TRAFFIC_SECRET_0":
		secret = &s.client
	case "SERVER_TRAFFIC_SECRET_0":
		secret = &s.server
	default:
		return len(line), nil
	}
	var err error
	*secret, err = hex.AppendDecode(nil, fields[2])
	return len(line), err
}
