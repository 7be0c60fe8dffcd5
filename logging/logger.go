package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Formats of a log.
const (
	// JSON is one object a line.
	JSON = "json"
	// Text is key=value.
	Text = "text"
	// Auto is Text on a terminal and JSON elsewhere.
	Auto = "auto"
)

// New makes a logger that writes to w from a level on. The error is of a format that is
// none.
func New(w io.Writer, level slog.Leveler, format string) (*slog.Logger, error) {
	if format == Auto {
		format = JSON
		if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			format = Text
		}
	}
	options := &slog.HandlerOptions{Level: level}
	switch format {
	case JSON:
		return slog.New(NewHandler(slog.NewJSONHandler(w, options))), nil
	case Text:
		return slog.New(NewHandler(slog.NewTextHandler(w, options))), nil
	default:
		return nil, fmt.Errorf("--log-format is %q and must be %s, %s or %s", format, Auto, JSON, Text)
	}
}
