package proto

// AnnounceURLsRequest asks a tracker where it serves BitTorrent clients. It answers with
// [AnnounceURLs]; one that does not know the request answers with [Goodbye].
type AnnounceURLsRequest struct {
	_ struct{} `cbor:",toarray"`
}

// Type implements [Message].
func (*AnnounceURLsRequest) Type() Type { return TypeAnnounceURLsRequest }

func (*AnnounceURLsRequest) check() error { return nil }
