package dev

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"gnomon/agent"
	"gnomon/agent/kind"
	gnomonv1 "gnomon/api/gnomon/v1"
)

const (
	// localCluster is the cluster of the local agents, and where the client looks for nodes
	// unless told otherwise.
	localCluster = "local"
	// maxAgents bounds what one process may pretend to be.
	maxAgents = 50
	// registerTimeout bounds the registration of one node, on a machine that is busy.
	registerTimeout = 30 * time.Second
	// agentGrace is how long what an agent runs may go on when gnomon-dev stops.
	agentGrace = 2 * time.Second
	// longestSocket leaves room below what systems take as a socket's path.
	longestSocket = 100
)

// harmless is what local agents permit unless told otherwise, wherever a system has it.
func harmless() []string {
	var all []string
	for _, dir := range []string{"/bin/", "/usr/bin/"} {
		for _, program := range []string{"date", "echo **", "false", "hostname", "sleep *", "true", "uname *", "uptime"} {
			all = append(all, dir+program)
		}
	}
	return all
}

// startAgents starts the agents node-1 to node-n of the local cluster and makes their
// nodes known, so that the first playbook finds them.
func startAgents(ctx context.Context, c client.Client, facade string, o options, log *slog.Logger, parts *closers) error {
	if o.agents == 0 {
		return nil
	}
	if o.agents < 0 || o.agents > maxAgents {
		return fmt.Errorf("--agents is %d and must be 0 to %d", o.agents, maxAgents)
	}
	dir := filepath.Join(o.dataDir, "agents")
	if o.ephemeral {
		made, err := os.MkdirTemp("", "gnomon-dev-agents")
		if err != nil {
			return fmt.Errorf("--agents: %w", err)
		}
		dir = made
		parts.add(func() { logged(log, "directory of the agents", os.RemoveAll(made)) })
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	var agents sync.WaitGroup
	parts.add(func() {
		stop()
		agents.Wait()
	})
	for i := range o.agents {
		config := agentConfig(i+1, dir, c, o, log)
		if err := os.MkdirAll(config.DataDir, 0o700); err != nil {
			return fmt.Errorf("--agents: %w", err)
		}
		started, ended := make(chan struct{}), make(chan error, 1)
		agents.Go(func() {
			err := agent.Run(running, config, func(string) { close(started) })
			ended <- err
			logged(log, "agent of "+config.Node, err)
		})
		select {
		case <-started:
		case err := <-ended:
			return fmt.Errorf("--agents: %s: %w", config.Node, err)
		}
		if err := register(ctx, facade, config); err != nil {
			return fmt.Errorf("--agents: %s: %w", config.Node, err)
		}
	}
	return nil
}

// agentConfig is that of node i. Half of the nodes are in zone a and half in b, for
// playbooks that choose by labels.
func agentConfig(i int, dir string, c client.Client, o options, log *slog.Logger) agent.Config {
	name := fmt.Sprintf("node-%d", i)
	config := agent.Config{
		Cluster: localCluster, Node: name, Labels: map[string]string{"zone": string("ba"[i%2])},
		DataDir: filepath.Join(dir, name), Client: c, StopGrace: agentGrace, Logger: log,
		Exec: kind.ExecConfig{Allow: o.allowExec},
	}
	if len(o.allowExec) == 0 {
		config.Exec.Allow = harmless()
	}
	if socket := filepath.Join(config.DataDir, "agent.sock"); len(socket) <= longestSocket {
		config.LocalAddress = "unix:" + socket
	}
	return config
}

// register makes a node known and waits until that is so. The agent does so too, but
// nobody is told when.
func register(ctx context.Context, facade string, config agent.Config) error {
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	conn, err := grpc.NewClient(facade, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = gnomonv1.NewClusterServiceClient(conn).RegisterNode(ctx, &gnomonv1.RegisterNodeRequest{
		Cluster: config.Cluster, Node: &gnomonv1.Node{Name: config.Node, Labels: config.Labels},
	})
	return err
}

// greetAgents tells a person what agents there are and what to type next, or nothing.
func greetAgents(o options, flag string) string {
	if o.agents == 0 {
		return ""
	}
	last := ""
	if o.agents > 1 {
		last = fmt.Sprintf(" to node-%d", o.agents)
	}
	return strings.TrimPrefix(fmt.Sprintf(`
Agents run as node-1%s of cluster %s:

  go run ./cmd/gnomon node run node-1%s --wait -- uptime

`, last, localCluster, flag), "\n")
}
