package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"

	"gnomon/agent/kind"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/outbound"
	"gnomon/playbook"
)

// Config is what an agent needs. WithDefaults fills in what may be left out.
type Config struct {
	// Cluster and Node name the node. Required.
	Cluster, Node string
	// Labels of the node, by which playbooks choose it.
	Labels map[string]string
	// DataDir holds the queue. Required; one agent at a time may have it.
	DataDir string
	// Client reaches Temporal. Required. It may be lazy: the agent works without.
	Client client.Client
	// ClusterTaskQueue is where the Cluster workflow runs. Default "gnomon".
	ClusterTaskQueue string
	// Exec is what programs are permitted.
	Exec kind.ExecConfig
	// HTTP is how requests are made.
	HTTP outbound.HTTPConfig
	// Health is how to tell whether the node does its work. Default: it always does.
	Health HealthConfig
	// LocalAddress serves the local API: unix:PATH, or host:port on the loopback, or empty
	// for none.
	LocalAddress string
	// RetainAge and RetainCount bound the records of finished actions. What is purged
	// before the core has seen it is LOST there. Default 24 hours and 1,000.
	RetainAge   time.Duration
	RetainCount int
	// StopGrace is how long a running action may go on when the agent stops. Default 10
	// seconds.
	StopGrace time.Duration
	// Logger receives what operators should know. Default slog.Default().
	Logger *slog.Logger
	// Meter is told what happens. Default: nobody is.
	Meter Meter
}

// Meter measures an agent. It must not block.
type Meter interface {
	// Ended notes the end of an action that ran.
	Ended(state gnomonv1.NodeAction_State, took time.Duration)
	// Unfinished notes how many actions have not finished.
	Unfinished(n uint32)
	// Up notes what a look at the node's health found.
	Up(up bool)
}

// unmeasured is the Meter of an agent that has none.
type unmeasured struct{}

func (unmeasured) Ended(gnomonv1.NodeAction_State, time.Duration) {}
func (unmeasured) Unfinished(uint32)                              {}
func (unmeasured) Up(bool)                                        {}

// closedAge is how many times RetainAge an id stays closed after its record was purged,
// so that a push that was long on its way does not run it again.
const closedAge = 10

// WithDefaults returns the configuration with its zero fields filled in.
func (c Config) WithDefaults() Config {
	if c.ClusterTaskQueue == "" {
		c.ClusterTaskQueue = defaultTaskQueue
	}
	if c.RetainAge == 0 {
		c.RetainAge = 24 * time.Hour
	}
	if c.RetainCount == 0 {
		c.RetainCount = 1000
	}
	if c.StopGrace == 0 {
		c.StopGrace = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Meter == nil {
		c.Meter = unmeasured{}
	}
	c.Health = c.Health.withDefaults()
	c.HTTP = c.HTTP.WithDefaults()
	return c
}

// Validate says what is wrong, naming field, value and rule.
func (c Config) Validate() error {
	var bad []error
	if c.DataDir == "" {
		bad = append(bad, errors.New("DataDir must be set"))
	}
	if c.Client == nil {
		bad = append(bad, errors.New("Client must be set"))
	}
	if c.RetainAge < time.Second || c.RetainCount < 1 {
		bad = append(bad, fmt.Errorf("RetainAge is %s and must be at least 1s; RetainCount is %d and must be at least 1", c.RetainAge, c.RetainCount))
	}
	if c.StopGrace < 0 || c.StopGrace > time.Hour {
		bad = append(bad, fmt.Errorf("StopGrace is %s and must be 0s to 1h", c.StopGrace))
	}
	for _, v := range playbook.ValidateCluster("cluster", c.Cluster) {
		bad = append(bad, fmt.Errorf("the name of the cluster: %s", v.Description))
	}
	for _, v := range playbook.ValidateNode(&gnomonv1.Node{Name: c.Node, Labels: c.Labels}) {
		bad = append(bad, fmt.Errorf("the node: %s", v.Description))
	}
	return errors.Join(append(bad, c.Health.validate(), c.HTTP.Validate())...)
}
