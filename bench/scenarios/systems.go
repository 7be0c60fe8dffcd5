package scenarios

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/bench/contenders"
	"gnomon/bench/report"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

const (
	// changes of a batch, nodes and stages of a playbook, entities that are put.
	batchChanges   = 100
	playbookNodes  = 10
	playbookStages = 5
	entities       = 200
	// systemsWithin bounds each wait.
	systemsWithin = time.Minute
)

// Systems compares batches, playbooks and stages with workflows by hand that send the same
// requests to the same receiver: what review, the nodes' agents and the order of visits cost.
func (b *Bench) Systems(ctx context.Context, rounds int) error {
	w := &systems{Bench: b, nodes: make([]string, playbookNodes)}
	for i := range w.nodes {
		w.nodes[i] = fmt.Sprintf("node-%d", i)
	}
	b.Tell("batches, playbooks and stages: starting")
	defer w.close()
	if err := w.start(ctx); err != nil {
		return err
	}
	for _, one := range []beside{
		{
			name: "batch", requests: b.Part(batchChanges), gnomon: w.batch, hand: w.batchByHand,
			workflows: [2]func(string) string{workflowv1.BatchWorkflowID, byHandID},
		},
		{
			name: "playbook", requests: playbookStages * playbookNodes, gnomon: w.playbook, hand: w.playbookByHand,
			workflows: [2]func(string) string{workflowv1.PlaybookWorkflowID, byHandID},
		},
		{
			name: "stage", requests: b.Part(entities), gnomon: w.put, hand: w.putByHand,
			workflows: [2]func(string) string{
				func(prefix string) string { return workflowv1.EntityWorkflowID(contenders.EntityType, prefix+"-0") },
				func(prefix string) string { return prefix + "-0" },
			},
		},
	} {
		if err := b.beside(ctx, one, rounds); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return w.visits(ctx)
}

// beside is what is done by gnomon and by hand in turns: some requests to paths with a
// prefix. Both say when the first could be sent.
type beside struct {
	name         string
	requests     int
	gnomon, hand func(ctx context.Context, prefix string, n int) (time.Time, error)
	// workflows name one of gnomon's and one by hand, whose events are counted.
	workflows [2]func(prefix string) string
}

func byHandID(prefix string) string { return prefix }

func (b *Bench) beside(ctx context.Context, of beside, rounds int) error {
	var seconds, busy [2][]float64
	var events [2]int
	// The first round warms up.
	for round := range rounds + 1 {
		for turn := range 2 {
			which := (round + turn) % 2
			name := []string{"gnomon", "by hand"}[which]
			b.Tell("%s, round %d of %d: %s", of.name, round, rounds, name)
			b.Site.Calm(ctx, calmWithin)
			b.batches++
			prefix := fmt.Sprintf("%s-%04d", of.name, b.batches)
			before, _ := b.Site.CPU()
			from, err := []func(context.Context, string, int) (time.Time, error){of.gnomon, of.hand}[which](ctx, prefix, of.requests)
			if err != nil {
				return err
			}
			all, err := b.arrivals(ctx, "/"+prefix+"/", of.requests, time.Until(from)+systemsWithin)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			lags := make([]time.Duration, 0, of.requests)
			for _, a := range all {
				lags = append(lags, a.Time.Sub(from))
			}
			b.early(of.name+" "+name, lags)
			b.Site.Calm(ctx, calmWithin)
			after, _ := b.Site.CPU()
			if events[which], _, err = b.history(ctx, of.workflows[which](prefix)); err != nil {
				return err
			}
			if round > 0 {
				seconds[which] = append(seconds[which], lags[len(lags)-1].Seconds())
				busy[which] = append(busy[which], report.Milliseconds(after-before)/float64(of.requests))
			}
		}
	}
	on, what := string(b.Site.Kind), fmt.Sprintf("%s of %d requests", of.name, of.requests)
	b.Report.Also(of.name+"_time_vs_hand", on, what+": time to the last, against a workflow by hand", report.SpreadOf(report.Ratios(seconds[0], seconds[1])))
	b.Report.Also(of.name+"_cpu_temporal_vs_hand", on, what+": processor time of Temporal, the same", report.SpreadOf(report.Ratios(busy[0], busy[1])))
	for which, name := range []string{"gnomon", "by hand"} {
		b.Report.Also(of.name+"_seconds "+name, on, what+": time to the last", report.SpreadOf(seconds[which]))
		b.Report.Also(of.name+"_cpu_ms_temporal "+name, on, what+": processor time of Temporal for each", report.SpreadOf(busy[which]))
		b.Report.Also(of.name+"_events "+name, on, "events of the workflow of a "+of.name, report.Exactly(float64(events[which])))
	}
	return nil
}

// systems is gnomon with all its systems, and the same by hand.
type systems struct {
	*Bench

	gnomon *contenders.Systems
	hand   *contenders.Waves
	nodes  []string
}

func (s *systems) start(ctx context.Context) (err error) {
	s.gnomon, err = s.Site.Systems(ctx, filepath.Join(s.Site.Dir, "systems"), s.nodes)
	if err != nil {
		return err
	}
	if s.hand, err = contenders.NewWaves(s.Site.Client); err != nil {
		return err
	}
	return s.registered(ctx)
}

func (s *systems) close() {
	if s.hand != nil {
		s.hand.Close()
	}
	if s.gnomon != nil {
		s.gnomon.Close()
	}
}

// registered waits until the cluster has seen all its nodes.
func (s *systems) registered(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, systemsWithin)
	defer cancel()
	for up := 0; up < len(s.nodes); {
		c, err := s.gnomon.Clusters.GetCluster(ctx, &gnomonv1.GetClusterRequest{Cluster: contenders.Cluster})
		if err != nil && status.Code(err) != codes.NotFound { // no agent has told yet
			return err
		}
		up = 0
		for _, n := range c.GetNodes() {
			if n.GetHealth() == gnomonv1.Node_UP {
				up++
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d nodes are up: %w", up, len(s.nodes), ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

func (s *systems) input(prefix, name string) contenders.Input {
	return contenders.Input{URL: s.Site.Inbox.URL("/" + prefix + "/" + name), Body: s.body}
}

// soon is when a batch is due that is created now.
func soon() time.Time { return time.Now().Add(3 * time.Second).Truncate(time.Second) }

func (s *systems) batch(ctx context.Context, prefix string, n int) (time.Time, error) {
	due := soon()
	wanted := &gnomonv1.Batch{Id: prefix, ScheduledAt: timestamppb.New(due)}
	for i := range n {
		in := s.input(prefix, fmt.Sprint(i))
		wanted.Changes = append(wanted.Changes, &gnomonv1.Change{Change: &gnomonv1.Change_HttpChange{HttpChange: &gnomonv1.HttpChange{
			ApplyUrl: in.URL, Body: structpb.NewStringValue(string(in.Body)),
		}}})
	}
	_, err := s.gnomon.Batches.CreateBatch(ctx, &gnomonv1.CreateBatchRequest{Batch: wanted})
	return due, err
}

func (s *systems) batchByHand(ctx context.Context, prefix string, n int) (time.Time, error) {
	due := soon()
	var all [][]contenders.Input
	for i := range n {
		all = append(all, []contenders.Input{s.input(prefix, fmt.Sprint(i))})
	}
	return due, s.hand.Start(ctx, prefix, due, all)
}

func (s *systems) playbook(ctx context.Context, prefix string, _ int) (time.Time, error) {
	p := &gnomonv1.Playbook{Id: prefix, Cluster: contenders.Cluster, RequestedBy: "bench"}
	for i := range playbookStages {
		in := s.input(prefix, fmt.Sprintf("%d/${node}", i))
		p.Stages = append(p.Stages, &gnomonv1.PlaybookStage{Name: fmt.Sprintf("stage-%d", i), AllNodes: true, Action: &gnomonv1.PlaybookStage_HttpRequest{
			HttpRequest: &gnomonv1.HttpRequest{Url: in.URL, Body: in.Body},
		}})
	}
	from := time.Now()
	_, err := s.gnomon.Playbooks.CreatePlaybook(ctx, &gnomonv1.CreatePlaybookRequest{Playbook: p})
	return from, err
}

func (s *systems) playbookByHand(ctx context.Context, prefix string, _ int) (time.Time, error) {
	all := make([][]contenders.Input, playbookStages)
	for i := range all {
		for _, node := range s.nodes {
			all[i] = append(all[i], s.input(prefix, fmt.Sprintf("%d/%s", i, node)))
		}
	}
	from := time.Now()
	return from, s.hand.Start(ctx, prefix, time.Time{}, all)
}

func (s *systems) put(ctx context.Context, prefix string, n int) (time.Time, error) {
	return together(ctx, Clients, n, func(ctx context.Context, i int) error { return s.putOne(ctx, prefix, fmt.Sprint(i)) })
}

func (s *systems) putByHand(ctx context.Context, prefix string, n int) (time.Time, error) {
	return together(ctx, Clients, n, func(ctx context.Context, i int) error {
		return s.hand.Start(ctx, fmt.Sprint(prefix, "-", i), time.Time{}, [][]contenders.Input{{s.input(prefix, fmt.Sprint(i))}})
	})
}

// putOne puts an entity that is sent by its stage.
func (s *systems) putOne(ctx context.Context, prefix, name string) error {
	in := s.input(prefix, name)
	_, err := s.gnomon.Entities.PutEntity(ctx, &gnomonv1.PutEntityRequest{Entity: &gnomonv1.Entity{
		Type: contenders.EntityType, Id: prefix + "-" + name,
		Content: &structpb.Struct{Fields: map[string]*structpb.Value{
			"url": structpb.NewStringValue(in.URL), "body": structpb.NewStringValue(string(in.Body)),
		}},
	}})
	return err
}

// visits measures how long after a change its visit comes, one at a time.
func (s *systems) visits(ctx context.Context) error {
	const n = 30
	on := string(s.Site.Kind)
	lags := make([]time.Duration, 0, n)
	s.batches++
	prefix := fmt.Sprintf("visit-%04d", s.batches)
	for i := range n {
		s.Tell("a change and its visit, %d of %d", i+1, n)
		from := time.Now()
		if err := s.putOne(ctx, prefix, fmt.Sprint(i)); err != nil {
			return err
		}
		all, err := s.arrivals(ctx, fmt.Sprintf("/%s/%d", prefix, i), 1, systemsWithin)
		if err != nil {
			return err
		}
		lags = append(lags, all[0].Time.Sub(from))
	}
	s.Report.Also("stage_lag_p50_ms", on, "from a put until its visit sends, one at a time, median", report.SpreadOf([]float64{report.Percentile(lags, 0.5)}))
	s.Report.Also("stage_lag_p99_ms", on, "the same, p99", report.SpreadOf([]float64{report.Percentile(lags, 0.99)}))
	return nil
}
