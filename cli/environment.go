package cli

import (
	"cmp"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// environment is what the commands see of the machine; tests have one of theirs.
type environment struct {
	now    func() time.Time
	local  *time.Location
	getenv func(string) string
	// terminal returns the size in cells of the terminal behind w, ok=false where
	// there is none.
	terminal func(w io.Writer) (width, height int, ok bool)
}

func system() environment {
	return environment{now: time.Now, local: time.Local, getenv: os.Getenv, terminal: terminalSize}
}

func terminalSize(w io.Writer) (width, height int, ok bool) {
	file, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24, true
	}
	return width, height, true
}

func (e environment) addressOrDefault() string {
	return cmp.Or(e.getenv("GNOMON_ADDRESS"), "127.0.0.1:7700")
}

// colour says whether w is to get colours: https://no-color.org.
func (e environment) colour(w io.Writer) bool {
	if e.getenv("NO_COLOR") != "" || e.getenv("TERM") == "dumb" {
		return false
	}
	_, _, ok := e.terminal(w)
	return ok
}
