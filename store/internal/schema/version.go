package schema

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Version is that of the last migration in dir, by the numbers that the names of its
// files begin with; 0 where there is none. It is the version of the schema that a
// program with these migrations needs.
func Version(fsys fs.FS, dir string) (int64, error) {
	names, err := fs.Glob(fsys, path.Join(dir, "*.sql"))
	if err != nil {
		return 0, err
	}
	var last int64
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("the migration %s must begin with its version: %w", name, err)
		}
		last = max(last, version)
	}
	return last, nil
}
