package devserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
)

const (
	// clusterName is stored in the database with the first start and must stay.
	clusterName = "active"

	mainStore       = "main"
	visibilityStore = "visibility"

	// One queue partition: on one machine more would only add hops between them.
	queuePartitions = 1

	// Requests and statements a second. What this machine can do is the limit, not what
	// one of many hosts should.
	visibilityRPS  = 1000
	requestRPS     = 10_000
	persistenceQPS = 100_000
	queueReads     = 1000

	// sweep is how often queues are rid of tasks that are done.
	sweep = 3 * time.Second

	// timeShift is how far ahead of its clock a shard reads its timers.
	timeShift = 10 * time.Millisecond
)

// newTemporal builds the server without starting it.
func newTemporal(cfg Config, p ports, db *database, log *logger) (temporal.Server, error) {
	host := func(ip string, port int) static.Hosts { return static.SingleLocalHost(hostPort(ip, port)) }
	return temporal.NewServer(
		temporal.WithConfig(serverConfig(cfg, p, db)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(map[primitives.ServiceName]static.Hosts{
			primitives.FrontendService: host(cfg.dialIP(), p.frontend),
			primitives.HistoryService:  host(defaultAddress, p.history),
			primitives.MatchingService: host(defaultAddress, p.matching),
			primitives.WorkerService:   host(defaultAddress, p.worker),
		}),
		temporal.WithLogger(log),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
		temporal.WithDynamicConfigClient(dynamicConfig(cfg.DynamicConfig)),
	)
}

func serverConfig(cfg Config, p ports, db *database) *config.Config {
	frontend := hostPort(cfg.dialIP(), p.frontend)
	internal := func(port int) config.Service {
		return config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: defaultAddress}}
	}
	return &config.Config{
		Global: config.Global{Membership: config.Membership{
			// Twice this is what the server gives its services to start in: on a machine that is
			// busy with other things they took more than twice 10 s.
			MaxJoinDuration:  time.Minute,
			BroadcastAddress: defaultAddress,
		}},
		Persistence: config.Persistence{
			DefaultStore:     mainStore,
			VisibilityStore:  visibilityStore,
			NumHistoryShards: db.shards,
			DataStores:       map[string]config.DataStore{mainStore: {SQL: db.main}, visibilityStore: {SQL: db.visibility}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled:                true,
				InitialFailoverVersion: 1,
				RPCAddress:             frontend,
				HTTPAddress:            hostPort(cfg.dialIP(), p.frontendHTTP),
			}},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): {RPC: config.RPC{
				GRPCPort: p.frontend,
				HTTPPort: p.frontendHTTP,
				BindOnIP: cfg.Address,
			}},
			string(primitives.HistoryService):  internal(p.history),
			string(primitives.MatchingService): internal(p.matching),
			string(primitives.WorkerService):   internal(p.worker),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		}},
		PublicClient: config.PublicClient{HostPort: frontend},
	}
}

// dynamicConfig are settings for a server with few users, then what they ask for.
func dynamicConfig(overrides map[string]any) dynamicconfig.StaticClient {
	out := dynamicconfig.StaticClient{
		// The defaults share a cluster between strangers; 10 lists a second is not
		// enough for a test suite.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): visibilityRPS,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():           requestRPS,
		dynamicconfig.FrontendRPS.Key():                                  requestRPS,
		dynamicconfig.HistoryRPS.Key():                                   requestRPS,
		dynamicconfig.MatchingRPS.Key():                                  requestRPS,
		dynamicconfig.FrontendPersistenceMaxQPS.Key():                    persistenceQPS,
		dynamicconfig.HistoryPersistenceMaxQPS.Key():                     persistenceQPS,
		dynamicconfig.MatchingPersistenceMaxQPS.Key():                    persistenceQPS,
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():           queuePartitions,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key():          queuePartitions,
		// Each shard reads each of its queues 20 times a second at the most, and here one
		// shard has all actions: from a dozen of them a second on, every timer that fires
		// and every task it makes would wait up to 50 ms for its turn.
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      queueReads,
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   queueReads,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): queueReads,
		// Until its queue is swept a task that is done is passed over by each that comes: in
		// half a minute thousands, a fifth of the processor time of a herd.
		dynamicconfig.TimerProcessorUpdateAckInterval.Key():      sweep,
		dynamicconfig.TransferProcessorUpdateAckInterval.Key():   sweep,
		dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(): sweep,
		// Timers that are set for less than this from now may fire that much late, by default
		// a second: retries, ticks and lost heartbeats would.
		dynamicconfig.TimerProcessorMaxTimeShift.Key(): timeShift,
		// It would ask a host on the internet for news.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// A search attribute added by hand is usable at once.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
	}
	for key, value := range overrides {
		out[dynamicconfig.MakeKey(key)] = value
	}
	return out
}

// guarded runs f on a goroutine of its own and turns into an error what would
// otherwise take the process or the caller along: a panic, and Temporal's fatal
// errors, with which log ends the goroutine.
func guarded(log *logger, f func() error) error {
	var (
		err  = errors.New("it ended without saying why")
		done = make(chan struct{})
	)
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		err = f()
	}()
	<-done
	if fatal := log.state.fatal.Load(); fatal != nil {
		return *fatal
	}
	return err
}

func hostPort(ip string, port int) string {
	return net.JoinHostPort(ip, strconv.Itoa(port))
}
