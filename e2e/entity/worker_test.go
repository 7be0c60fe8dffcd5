package entity

import (
	"time"

	"github.com/stretchr/testify/require"

	"gnomon/worker"
)

// work starts a worker in this process.
func (s *site) work() {
	s.t.Helper()
	w, err := worker.New(s.temporal, worker.Config{
		TaskQueue: s.queue, Store: s.rows, Stages: s.stages, Publisher: s.saved, StopGrace: time.Second, Logger: quiet,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, w.Start())
	s.t.Cleanup(w.Stop)
}
