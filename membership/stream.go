package membership

// Of returns the certificate that the other side of a stream or a connection has proved, nil
// if this node is in no network.
func Of(stream any) *Certificate {
	if s, ok := stream.(interface{ Certificate() *Certificate }); ok {
		return s.Certificate()
	}
	return nil
}
