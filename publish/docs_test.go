package publish_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/publish"
)

// docs/published-records.md shows a record as it is, and names what a message has.
func TestDocumentedRecord(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/published-records.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, block)
	r := &gnomonv1.SavedRecord{}
	require.NoError(t, protojson.Unmarshal(block[1], r))
	again, err := protojson.Marshal(r)
	require.NoError(t, err)
	require.JSONEq(t, string(block[1]), string(again))
	for _, name := range []string{publish.HeaderCommitID, publish.HeaderSequence, publish.HeaderContentType, publish.ContentTypeProtobuf, publish.ContentTypeJSON} {
		require.Contains(t, string(page), name)
	}
	fields := r.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		require.Contains(t, string(page), " "+string(fields.Get(i).Name())+" = ")
	}
}
