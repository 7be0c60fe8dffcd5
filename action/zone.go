package action

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"time"
)

// The time zone database of the Go toolchain, all entries stored without
// compression. It is embedded, and the system's is never read, for two reasons:
// slim images have none, and two workers that replay one workflow must agree on
// when a day begins.
//
//go:generate sh -c "cp \"$(go env GOROOT)/lib/time/zoneinfo.zip\" zoneinfo.zip"
//go:embed zoneinfo.zip
var zoneinfo []byte

// zones holds the entry of each zone by its name. It is filled before main and
// never changed, so that workflow code may read it.
var zones = indexZones(zoneinfo)

// Location returns the time zone of an IANA name such as Europe/Amsterdam, from
// data embedded in the binary. "" and "UTC" are UTC. Names are case-sensitive;
// "Local", which every machine takes for something else, is refused like any
// unknown name.
func Location(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	data, ok := zones[name]
	if !ok {
		return nil, fmt.Errorf("time zone %.64q is not an IANA name known here", name)
	}
	return time.LoadLocationFromTZData(name, data)
}

func indexZones(archive []byte) map[string][]byte {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(fmt.Sprintf("action: embedded time zones cannot be read: %v", err))
	}
	index := make(map[string][]byte, len(r.File))
	for _, f := range r.File {
		at, err := f.DataOffset()
		if err != nil || f.Method != zip.Store {
			panic(fmt.Sprintf("action: embedded time zone %s cannot be read", f.Name))
		}
		if !f.FileInfo().IsDir() {
			index[f.Name] = archive[at : at+int64(f.UncompressedSize64)]
		}
	}
	return index
}
