package roles

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"gnomon/starter"
	"gnomon/store/faulty"
	"gnomon/store/open"
)

// faultyStarter is the facade with a store that misbehaves when told to, a clock that
// may be wrong and a failpoint after its calls of Temporal. It prints its address.
func faultyStarter() *cobra.Command {
	var temporalAddress, storeName, address string
	var clockOff time.Duration
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, faults := cmd.Context(), &inside{}
			c, err := client.DialContext(ctx, client.Options{
				HostPort: temporalAddress,
				ConnectionOptions: client.ConnectionOptions{
					DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(faults.die.intercept)},
				},
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
			faults.rows = faulty.New(inner, 1)
			service, err := starter.NewActions(starter.Config{
				Client: c, Store: faults.rows, Now: func() time.Time { return time.Now().Add(clockOff) },
			})
			if err != nil {
				return err
			}
			facade, err := starter.NewServer(starter.ServerConfig{GRPCAddress: address}, starter.Services{Actions: service}, service.Ready)
			if err != nil {
				return err
			}
			if err := facade.Start(); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), facade.GRPCAddr())
			go obey(cmd.InOrStdin(), cmd.OutOrStdout(), faults.carryOut)
			<-ctx.Done()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return facade.Stop(end)
		},
	}
	f := cmd.Flags()
	f.StringVar(&temporalAddress, "temporal-address", "", "Temporal's")
	f.StringVar(&storeName, "store", "", "the mirror")
	f.StringVar(&address, "grpc-address", "127.0.0.1:0", "where to serve")
	f.DurationVar(&clockOff, "clock-off", 0, "how far the clock is wrong")
	return cmd
}
