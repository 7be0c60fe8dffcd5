package serve

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"gnomon/playbook"
)

func TestClusterFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		bad  string
	}{
		{nil, ""},
		{[]string{"--cluster-interval", "1s", "--busy-nodes", "3"}, ""},
		{[]string{"--cluster-interval", "0s"}, "--cluster-interval is 0s"},
		{[]string{"--cluster-slow-interval", "1s"}, "--cluster-slow-interval is 1s"},
		{[]string{"--node-timeout", "1h"}, "--node-timeout is 1h"},
		{[]string{"--unfinished-per-agent", "0"}, "--unfinished-per-agent must"},
	} {
		var c clusterFlags
		f := pflag.NewFlagSet("worker", pflag.ContinueOnError)
		c.register(f)
		require.NoError(t, f.Parse(test.args))
		settings, err := c.settings()
		if test.bad != "" {
			require.ErrorContains(t, err, test.bad)
			continue
		}
		require.NoError(t, err)
		if test.args == nil {
			want := playbook.Settings(nil)
			want.UnfinishedPerAgent = 1
			require.True(t, proto.Equal(want, settings), "%v", settings)
			continue
		}
		require.Equal(t, time.Second, settings.GetInterval().AsDuration())
		require.EqualValues(t, 3, settings.GetBusyNodes())
	}
}
