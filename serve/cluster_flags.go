package serve

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/playbook"
)

// clusterFlags are a worker's flags for the orchestration of clusters.
type clusterFlags struct {
	interval, slowInterval, nodeTimeout time.Duration
	unfinishedPerAgent, busyNodes       uint32
}

func (c *clusterFlags) register(f *pflag.FlagSet) {
	f.DurationVar(&c.interval, "cluster-interval", playbook.DefaultInterval, "pause between two cycles of a cluster while actions on its nodes are unfinished (env GNOMON_CLUSTER_INTERVAL)")
	f.DurationVar(&c.slowInterval, "cluster-slow-interval", playbook.DefaultSlowInterval, "pause between two cycles that visit all nodes of a cluster whatever happens (env GNOMON_CLUSTER_SLOW_INTERVAL)")
	f.DurationVar(&c.nodeTimeout, "node-timeout", playbook.DefaultNodeTimeout, "how long an agent may take to answer in a cycle (env GNOMON_NODE_TIMEOUT)")
	f.Uint32Var(&c.unfinishedPerAgent, "unfinished-per-agent", 1, "unfinished actions that an agent is given; the others wait in the core (env GNOMON_UNFINISHED_PER_AGENT)")
	f.Uint32Var(&c.busyNodes, "busy-nodes", 0, "nodes of a cluster that have unfinished actions at a time, 0 for all (env GNOMON_BUSY_NODES)")
}

// settings are what the flags, set by now, ask for.
func (c *clusterFlags) settings() (*workflowv1.ClusterSettings, error) {
	const least, most = 100 * time.Millisecond, 24 * time.Hour
	switch {
	case c.interval < least || c.interval > most:
		return nil, fmt.Errorf("--cluster-interval is %s and must be %s to %s", c.interval, least, most)
	case c.slowInterval < c.interval || c.slowInterval > most:
		return nil, fmt.Errorf("--cluster-slow-interval is %s and must be --cluster-interval to %s", c.slowInterval, most)
	case c.nodeTimeout < least || c.nodeTimeout > 5*time.Minute:
		return nil, fmt.Errorf("--node-timeout is %s and must be %s to 5m", c.nodeTimeout, least)
	case c.unfinishedPerAgent < 1:
		return nil, fmt.Errorf("--unfinished-per-agent must be at least 1")
	}
	return &workflowv1.ClusterSettings{
		Interval: durationpb.New(c.interval), SlowInterval: durationpb.New(c.slowInterval), NodeTimeout: durationpb.New(c.nodeTimeout),
		UnfinishedPerAgent: c.unfinishedPerAgent, BusyNodes: c.busyNodes,
	}, nil
}
