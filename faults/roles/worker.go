package roles

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"gnomon/changes/kinds"
	"gnomon/store/faulty"
	"gnomon/store/open"
	"gnomon/worker"
)

// faultyWorker is the worker with a store that misbehaves when told to and performers
// that do when their URL says so. It prints "polls".
func faultyWorker() *cobra.Command {
	var temporalAddress, storeName, taskQueue, dnsZones string
	var heartbeat time.Duration
	var pollers int
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			cfg := worker.Config{
				TaskQueue: taskQueue, HeartbeatTimeout: heartbeat, StopGrace: time.Second, Pollers: pollers, Isolate: true, Build: "faulty",
			}
			cfg.Performers.HTTP.Transport = newPlanted()
			if asked, err := worker.PerformForParent(cfg.Performers, nil, slog.Default()); asked {
				return err
			}
			c, err := client.DialContext(ctx, client.Options{
				HostPort: temporalAddress, Identity: worker.Identity("faulty"), ConnectionOptions: worker.Connection(client.ConnectionOptions{}),
			})
			if err != nil {
				return err
			}
			defer c.Close()
			inner, err := open.Store(ctx, storeName)
			if err != nil {
				return err
			}
			defer inner.Close()
			faults := &inside{rows: faulty.New(inner, 2)}
			changes, err := kinds.Open(dnsZones)
			if err != nil {
				return err
			}
			defer changes.Close()
			cfg.Store, cfg.Changes = faults.rows, changes
			w, err := worker.New(c, cfg)
			if err != nil {
				return err
			}
			if err := w.Start(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "polls")
			go obey(cmd.InOrStdin(), cmd.OutOrStdout(), faults.carryOut)
			<-ctx.Done()
			w.Stop()
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&temporalAddress, "temporal-address", "", "Temporal's")
	f.StringVar(&storeName, "store", "", "the mirror")
	f.StringVar(&taskQueue, "task-queue", "", "task queue of workflows and activities")
	f.StringVar(&dnsZones, "dns-zones", "", "file of the zones that batches change")
	f.DurationVar(&heartbeat, "heartbeat-timeout", 2*time.Second, "silence that means interrupted")
	f.IntVar(&pollers, "pollers", 4, "open polls of each kind")
	return cmd
}
