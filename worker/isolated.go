package worker

import (
	"log/slog"

	"gnomon/activities/isolation"
	"gnomon/activities/performers"
	"gnomon/tracing"
)

// PerformForParent performs, if this process was started for that by a worker with
// Config.Isolate, until that worker is gone, and says whether it was. cfg should be made
// as the worker's is, which happens by itself as the arguments and the environment are
// the same. Spans go to traces, which may be nil. The error says what is wrong with cfg.
func PerformForParent(cfg performers.Config, traces *tracing.Tracing, log *slog.Logger) (asked bool, err error) {
	if !isolation.Asked() {
		return false, nil
	}
	set, err := performers.New(cfg)
	if err != nil {
		return true, err
	}
	return true, isolation.Serve(set, traces, log)
}
