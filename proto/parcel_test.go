package proto

import (
	"bytes"
	"testing"
)

func TestReadGroupRejectsInvalidParcels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Parcel)
		want   string
	}{
		{"valid", func(*Parcel) {}, ""},
		{"no sender", func(m *Parcel) { m.Sender = "" }, "peer id of 0 bytes, want 1 to 64"},
		{"long sender", func(m *Parcel) { m.Sender = PeerID(make([]byte, 65)); m.Payload = nil }, "peer id of 65 bytes, want 1 to 64"},
		{"no parts", func(m *Parcel) { m.Parts = 0 }, "part 0 of 0, at most 64"},
		{"part past the last", func(m *Parcel) { m.Part = m.Parts }, "part 2 of 2, at most 64"},
		{"many parts", func(m *Parcel) { m.Parts = MaxParcels + 1 }, "part 0 of 65, at most 64"},
		{"unknown flag", func(m *Parcel) { m.Flags = 2 }, "flags 0x2 of a parcel"},
		{"relay to one member", func(m *Parcel) { m.Number |= ParcelDirect }, "flags 0x1 of a parcel"},
		{"large", func(m *Parcel) { m.Payload = make([]byte, MaxParcel+1) }, "parcel of 65537 bytes, at most 65536"},
		{"larger than the frame", func(m *Parcel) { m.Payload = make([]byte, MaxParcel+64) }, "frame of"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := sampleParcel()
			tt.change(m)
			_, err := ReadGroup(bytes.NewReader(AppendParcel(nil, m)))
			checkError(t, err, tt.want)
		})
	}
	_, err := ReadGroup(bytes.NewReader([]byte{0, 0, 0, 3, byte(typeParcel), 200, 1}))
	checkError(t, err, "parcel of 2 bytes")
	_, err = ReadMessage(bytes.NewReader(AppendParcel(nil, sampleParcel())))
	checkError(t, err, "message type 41 is unknown")
}
