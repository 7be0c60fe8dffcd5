package main

import (
	"os"
	"runtime/pprof"
)

// profiled begins a CPU profile of this process, if a file is named. The function ends
// it.
func profiled(path string) (func(), error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
