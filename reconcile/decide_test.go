package reconcile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/reconcile"
	"gnomon/store"
)

var (
	now     = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	settled = now.Add(-time.Minute)
	began   = now.Add(-time.Hour)
)

// action is what the workflow of these tests has, changed by edits.
func action(edits ...func(*gnomonv1.ScheduledAction)) *gnomonv1.ScheduledAction {
	a := &gnomonv1.ScheduledAction{
		Meta: &gnomonv1.Meta{Id: "a", Guid: "g", CreateTime: timestamppb.New(began), UpdateTime: timestamppb.New(began)},
		Spec: &gnomonv1.Spec{StartPolicy: &gnomonv1.StartPolicy{StartAt: timestamppb.New(now)}},
		Status: &gnomonv1.Status{
			State: gnomonv1.Status_SCHEDULED, ScheduledAt: timestamppb.New(now),
		},
	}
	for _, edit := range edits {
		edit(a)
	}
	return a
}

func in(s gnomonv1.Status_State) func(*gnomonv1.ScheduledAction) {
	return func(a *gnomonv1.ScheduledAction) { a.Status.State = s }
}

func guid(g string) func(*gnomonv1.ScheduledAction) {
	return func(a *gnomonv1.ScheduledAction) { a.Meta.Guid = g }
}

func updated(at time.Time) func(*gnomonv1.ScheduledAction) {
	return func(a *gnomonv1.ScheduledAction) { a.Meta.UpdateTime = timestamppb.New(at) }
}

// at is a revision of this incarnation.
func at(sequence uint64, attempt, phase uint32) store.Revision {
	return store.Revision{Incarnation: began, Sequence: sequence, Attempt: attempt, Phase: phase}
}

func row(r store.Revision, edits ...func(*gnomonv1.ScheduledAction)) *store.Row {
	return &store.Row{Action: action(edits...), Revision: r, Chain: "chain"}
}

func tombstone(r store.Revision, edits ...func(*gnomonv1.ScheduledAction)) *store.Row {
	t := row(r, edits...)
	t.Tombstone = true
	return t
}

func chained(r *store.Row, chain string) *store.Row {
	r.Chain = chain
	return r
}

// open is an open workflow that answers, at a sequence.
func open(sequence uint64, edits ...func(*gnomonv1.ScheduledAction)) reconcile.Workflow {
	return reconcile.Workflow{State: reconcile.Open, RunID: "run", Chain: "chain", Answer: &workflowv1.CommandResult{
		Action: action(edits...), Chain: "chain",
		Revision: &workflowv1.Revision{Incarnation: timestamppb.New(began), Sequence: sequence},
	}}
}

func performing(w reconcile.Workflow) reconcile.Workflow {
	w.Performing = true
	return w
}

func closing(w reconcile.Workflow) reconcile.Workflow {
	w.Answer.Tombstone = true
	return w
}

func closed(how enumspb.WorkflowExecutionStatus) reconcile.Workflow {
	return reconcile.Workflow{State: reconcile.Closed, RunID: "run", Chain: "chain", Ended: how, Incarnation: began}
}

func completed(s gnomonv1.Status_State) reconcile.Workflow {
	w := closed(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED)
	w.Result = &gnomonv1.Status{State: s, SuccessfulAttemptsCounter: 7}
	return w
}

const (
	running   = gnomonv1.Status_RUNNING
	retrying  = gnomonv1.Status_RETRYING
	paused    = gnomonv1.Status_PAUSED
	succeeded = gnomonv1.Status_SUCCEEDED
)

// M-61: what each pair of row and workflow means.
func TestDecide(t *testing.T) {
	t.Parallel()
	absent := reconcile.Workflow{}
	silent := reconcile.Workflow{State: reconcile.Open, RunID: "run", Chain: "chain"}
	foreign := func(w reconcile.Workflow) reconcile.Workflow {
		w.Foreign = true
		return w
	}
	terminated := closed(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED)
	unreadable := completed(succeeded)
	unreadable.Problem = "its result cannot be decoded"
	recent := updated(settled.Add(time.Microsecond))
	for name, c := range map[string]struct {
		row  *store.Row
		w    reconcile.Workflow
		want reconcile.Kind
	}{
		"the same":                            {row(at(3, 0, 0)), open(3), reconcile.Right},
		"the facade's first row":              {row(store.Revision{}), open(0), reconcile.Right},
		"the facade's over an old tombstone":  {row(store.Revision{Incarnation: began.Add(-1), Sequence: 9}), open(0), reconcile.Right},
		"an attempt's last row":               {row(at(3, 2, 2)), open(3), reconcile.Right},
		"an attempt's, retrying":              {row(at(3, 2, 2), in(retrying)), performing(open(3, in(running))), reconcile.Right},
		"a running attempt's, paused":         {row(at(3, 2, 1), in(running)), performing(open(3, in(paused))), reconcile.Right},
		"closing, its row not stored":         {row(at(3, 0, 0)), closing(open(4, in(succeeded))), reconcile.Right},
		"closing, no row":                     {nil, closing(open(4, in(succeeded))), reconcile.Right},
		"ended, and so is the row":            {tombstone(at(4, 0, 0)), completed(succeeded), reconcile.Right},
		"ended, and the row has expired":      {nil, completed(succeeded), reconcile.Right},
		"ended long ago":                      {tombstone(at(4, 0, 0)), absent, reconcile.Right},
		"another queue's, and no row":         {nil, foreign(completed(succeeded)), reconcile.Right},
		"no row":                              {nil, open(3), reconcile.Missing},
		"no row, performing":                  {nil, performing(open(3, in(running))), reconcile.Missing},
		"no row, but created just now":        {nil, open(3, recent), reconcile.Young},
		"a tombstone of this":                 {tombstone(at(9, 0, 0)), open(3), reconcile.Stale},
		"a tombstone of the one before":       {chained(tombstone(store.Revision{}), "before"), open(3), reconcile.Stale},
		"a tombstone, and created just now":   {chained(tombstone(store.Revision{}), "before"), open(3, recent), reconcile.Young},
		"a fresh tombstone of the one before": {chained(tombstone(store.Revision{}, recent), "before"), open(3), reconcile.Stale},
		"the living row of the one before":    {chained(row(store.Revision{}), "before"), open(3), reconcile.Stale},
		"an old guid":                         {row(at(2, 0, 0), guid("old")), open(3), reconcile.Stale},
		"an old guid, performing":             {row(at(3, 1, 1), guid("old"), in(running)), performing(open(3, in(running))), reconcile.Stale},
		"an old guid, updated just now":       {row(at(2, 0, 0), guid("old")), open(3, recent), reconcile.Young},
		"an old status":                       {row(at(2, 0, 0)), open(3, in(paused)), reconcile.Stale},
		"an old status, performing":           {row(at(2, 0, 0)), performing(open(3, in(running))), reconcile.Stale},
		"another status in place":             {row(at(3, 0, 0)), open(3, in(paused)), reconcile.Stale},
		"another status, ahead":               {row(at(9, 0, 0)), open(3, in(paused)), reconcile.Stale},
		"ended, performing":                   {row(at(3, 1, 2), in(succeeded)), performing(open(3, in(running))), reconcile.Stale},
		"another spec":                        {row(at(3, 0, 0), func(a *gnomonv1.ScheduledAction) { a.Spec.StartPolicy = nil }), open(3), reconcile.Stale},
		"other labels":                        {row(at(3, 0, 0), func(a *gnomonv1.ScheduledAction) { a.Meta.Labels = map[string]string{"a": "b"} }), open(3), reconcile.Stale},
		"the row updated just now":            {row(at(3, 0, 0), recent), open(3), reconcile.Young},
		"nobody answers":                      {row(at(3, 0, 0)), silent, reconcile.Unanswered},
		"nobody answers and no row":           {nil, silent, reconcile.Unanswered},
		"closed, and cannot be read":          {row(at(3, 0, 0)), unreadable, reconcile.Unanswered},
		"another queue's":                     {row(at(3, 0, 0)), foreign(silent), reconcile.Foreign},
		"another queue's, ended":              {row(at(3, 0, 0)), foreign(completed(succeeded)), reconcile.Foreign},
		"alive, completed":                    {row(at(3, 0, 0)), completed(succeeded), reconcile.Resurrected},
		"alive, terminated":                   {row(at(3, 0, 0)), terminated, reconcile.Resurrected},
		"alive, of a run before":              {chained(row(at(3, 0, 0)), "before"), completed(succeeded), reconcile.Resurrected},
		"alive, completed, just updated":      {row(at(3, 0, 0), recent), completed(succeeded), reconcile.Young},
		"alive, nothing known":                {row(at(3, 0, 0)), absent, reconcile.Orphaned},
		"alive, nothing known, just created":  {row(at(0, 0, 0), recent), absent, reconcile.Young},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := reconcile.Decide(c.row, c.w, settled)
			require.Equal(t, c.want, f.Kind, f.Why)
			require.Equal(t, c.want == reconcile.Right, f.Why == "")
			wrong := c.want == reconcile.Missing || c.want == reconcile.Stale || c.want == reconcile.Resurrected || c.want == reconcile.Orphaned
			require.Equal(t, wrong, f.Wrong())
		})
	}
}

// Exactly as old as the grace is old enough.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	require.Equal(t, reconcile.Missing, reconcile.Decide(nil, open(3, updated(settled)), settled).Kind)
	// Without an update time the create time counts.
	a := open(3)
	a.Answer.Action.Meta.UpdateTime = nil
	a.Answer.Action.Meta.CreateTime = timestamppb.New(now)
	require.Equal(t, reconcile.Young, reconcile.Decide(nil, a, settled).Kind)
}
