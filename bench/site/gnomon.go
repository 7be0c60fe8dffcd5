package site

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	sdkworker "go.temporal.io/sdk/worker"

	"gnomon/activities/performers"
	"gnomon/bench/contenders"
	"gnomon/logging"
	"gnomon/store/open"
	"gnomon/worker"
)

// gnomon is gnomon's worker and, unless told otherwise, its facade in a process that
// can be killed and weighed. It prints the facade's address; it repeats each line of
// stdin with the bytes it has resident once its garbage is collected.
func gnomon() *cobra.Command {
	var temporalAddress, storeName, queue string
	var heartbeat time.Duration
	var cache int
	var facade bool
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := logging.New(cmd.ErrOrStderr(), slog.LevelError, logging.Text)
			if err != nil {
				return err
			}
			sdkworker.SetStickyWorkflowCacheSize(cache)
			c, err := client.DialContext(cmd.Context(), client.Options{
				HostPort: temporalAddress, Identity: worker.Identity("bench"), Logger: sdklog.NewStructuredLogger(log),
				ConnectionOptions: worker.Connection(client.ConnectionOptions{}),
			})
			if err != nil {
				return err
			}
			defer c.Close()
			rows, err := open.Store(cmd.Context(), storeName)
			if err != nil {
				return err
			}
			defer rows.Close()
			w, err := worker.New(c, worker.Config{
				TaskQueue: queue, Store: rows, Performers: performers.Default(), Pollers: contenders.Pollers,
				HeartbeatTimeout: heartbeat, StopGrace: time.Second, Logger: log,
			})
			if err != nil {
				return err
			}
			if err := w.Start(); err != nil {
				return err
			}
			defer w.Stop()
			at := "polls"
			if facade {
				g, err := contenders.NewGnomon(contenders.GnomonConfig{Client: c, Store: rows, Queue: queue, NoWorker: true, Logger: log})
				if err != nil {
					return err
				}
				defer g.Close()
				at = g.Address()
			}
			fmt.Fprintln(cmd.OutOrStdout(), at)
			go weigh(cmd)
			<-cmd.Context().Done()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&temporalAddress, "temporal-address", "", "Temporal's")
	f.StringVar(&storeName, "store", "", "the mirror")
	f.StringVar(&queue, "task-queue", "", "task queue of workflows and activities")
	f.DurationVar(&heartbeat, "heartbeat-timeout", 2*time.Second, "silence that means interrupted")
	f.IntVar(&cache, "cache", 10_000, "workflows kept in memory")
	f.BoolVar(&facade, "facade", true, "serve the facade too")
	return cmd
}

func weigh(cmd *cobra.Command) {
	lines := bufio.NewScanner(cmd.InOrStdin())
	for lines.Scan() {
		debug.FreeOSMemory()
		fmt.Fprintln(cmd.OutOrStdout(), "resident", lines.Text(), resident())
	}
}

// resident is how much memory this process has, 0 where that cannot be known.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm") // Linux has it
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // 0 for what is none
	return pages * int64(os.Getpagesize())
}
