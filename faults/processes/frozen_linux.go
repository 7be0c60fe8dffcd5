package processes

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// frozen says whether every thread of a process is stopped.
func frozen(pid int) bool {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		// The state follows the name, which is in brackets.
		if _, state, ok := bytes.Cut(stat, []byte(") ")); err == nil && (!ok || state[0] != 'T') {
			return false
		}
	}
	return true
}
