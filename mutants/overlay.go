package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// apply gives the mutated files of a mutant, by their absolute paths.
func apply(root string, m mutant) (map[string]string, error) {
	contents := map[string]string{}
	for _, e := range m.edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		text, edited := contents[path]
		if !edited {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", e.file, err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s has the text %q %d times, not once", e.file, firstLine(e.old), n)
		}
		if e.old == e.new {
			return nil, fmt.Errorf("%s: the text %q is replaced by itself", e.file, firstLine(e.old))
		}
		contents[path] = strings.Replace(text, e.old, e.new, 1)
	}
	return contents, nil
}

// overlay writes a mutant's files and the go command's overlay of them into dir and
// returns the overlay's path.
func overlay(dir, root string, m mutant) (string, error) {
	contents, err := apply(root, m)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range contents {
		mutated := filepath.Join(dir, strconv.Itoa(len(replace))+"-"+filepath.Base(path))
		if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[path] = mutated
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, list, 0o600)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
