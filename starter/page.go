package starter

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
	"unicode/utf8"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// The layout of a page token before base64: version, fingerprint, whether a time
// follows, the time in microseconds since 1970, the id, a checksum of all before.
// A new layout gets a new version, and old tokens are then refused.
const (
	tokenVersion     = 1
	fingerprintBytes = 8
	tokenHead        = 1 + fingerprintBytes + 1 + 8
	tokenChecksum    = 4
	// maxTokenBytes bounds what is decoded: the longest id has 200 bytes.
	maxTokenBytes = 512
)

// tokenEncoding is strict, so that a position has one token.
var tokenEncoding = base64.RawURLEncoding.Strict()

// listing tells the queries apart whose pages must not be mixed: same kind of work, filter,
// order and show_finished. The page size may change from page to page.
type listing string

func listingOfActions(req *gnomonv1.ListActionsRequest) listing {
	return listing(fmt.Sprintf("%q %q %t", req.GetFilter(), req.GetOrderBy(), req.GetShowFinished()))
}

func listingOfBatches(req *gnomonv1.ListBatchesRequest) listing {
	return listing(fmt.Sprintf("batches %q %q", req.GetFilter(), req.GetOrderBy()))
}

func (l listing) fingerprint() [fingerprintBytes]byte {
	sum := sha256.Sum256([]byte(l))
	return [fingerprintBytes]byte(sum[:fingerprintBytes])
}

// pageToken encodes the position after which the next page of a listing begins. It is
// opaque to clients, holds no secret and is not a permission: whoever makes one up
// only chooses where to begin.
func (l listing) pageToken(after store.ActionPosition) string {
	mark := l.fingerprint()
	token := append([]byte{tokenVersion}, mark[:]...)
	var timed byte
	var micros int64
	if !after.ScheduledAt.IsZero() {
		timed, micros = 1, after.ScheduledAt.UnixMicro()
	}
	token = append(token, timed)
	token = binary.BigEndian.AppendUint64(token, uint64(micros))
	token = append(token, after.ID...)
	token = binary.BigEndian.AppendUint32(token, crc32.ChecksumIEEE(token))
	return tokenEncoding.EncodeToString(token)
}

// readPageToken gives the position that a page_token holds, nil where there is none. A
// token of another listing, of another version, or that gnomon did not make is
// INVALID_ARGUMENT on the field "page_token".
func (l listing) readPageToken(text string) (*store.ActionPosition, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no token is the first page
	}
	malformed := invalidField("page_token", ruleMalformed, "must be the next_page_token of a page before")
	if len(text) > maxTokenBytes {
		return nil, malformed
	}
	token, err := tokenEncoding.DecodeString(text)
	if err != nil || len(token) <= tokenHead+tokenChecksum || token[0] != tokenVersion {
		return nil, malformed
	}
	body, sum := token[:len(token)-tokenChecksum], token[len(token)-tokenChecksum:]
	if binary.BigEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return nil, malformed
	}
	mark := l.fingerprint()
	if !slices.Equal(body[1:1+fingerprintBytes], mark[:]) {
		return nil, invalidField("page_token", ruleOtherQuery, "must be used with the filter, order_by and show_finished of the page before")
	}
	timed := body[1+fingerprintBytes]
	id := string(body[tokenHead:])
	if timed > 1 || !utf8.ValidString(id) {
		return nil, malformed
	}
	position := &store.ActionPosition{ID: id}
	if timed == 1 {
		micros := binary.BigEndian.Uint64(body[2+fingerprintBytes : tokenHead])
		position.ScheduledAt = time.UnixMicro(int64(micros)).UTC()
	}
	return position, nil
}
