package replay

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"
)

// Extension is how the name of a recording ends.
const Extension = ".json.gz"

// Load reads a recording. The JSON within may also be what `temporal workflow show
// --output json` and the Web UI's download give.
func Load(path string) (*historypb.History, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h, err := client.HistoryFromJSON(text, client.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// Save writes a recording, replacing one that is there. What would say on which
// machine it was made should have been taken out with Scrub.
func Save(path string, h *historypb.History) error {
	text, err := protojson.Marshal(h)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o600)
}
