package site

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	gnomonv1 "gnomon/api/gnomon/v1"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/faults/record"
)

// Finals records what Temporal says of every action, once it has come to rest.
func (s *Site) Finals(ctx context.Context) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: s.Address})
	if err != nil {
		return err
	}
	defer c.Close()
	log, err := record.OpenLog(s.Dir, record.FinalsFile)
	if err != nil {
		return err
	}
	var all map[string]*final
	err = patiently(ctx, func() (err error) {
		all, err = executions(ctx, c)
		return err
	})
	for id, f := range all {
		if err = patiently(ctx, func() error { return f.ask(ctx, c, id) }); err != nil {
			break
		}
		log.Add(f.Final)
	}
	return errors.Join(err, log.Close())
}

// askAgain is how often Temporal is asked again where it does not answer at once.
const askAgain = 10

// patiently asks until there is an answer.
func patiently(ctx context.Context, ask func() error) error {
	var err error
	for range askAgain {
		if err = ask(); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// final is what is known of one action so far.
type final struct {
	record.Final
	run     string
	started time.Time
}

// pageSize is small: Temporal's lists are slow on a busy machine.
const pageSize = 250

// executions lists the newest execution of each action.
func executions(ctx context.Context, c client.Client) (map[string]*final, error) {
	found := map[string]*final{}
	var token []byte
	for {
		reply, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "WorkflowType = '" + workflowv1.ActionWorkflow + "'", PageSize: pageSize, NextPageToken: token,
		})
		if err != nil {
			return nil, fmt.Errorf("temporal does not list its executions: %w", err)
		}
		for _, e := range reply.GetExecutions() {
			id := strings.TrimPrefix(e.GetExecution().GetWorkflowId(), workflowv1.WorkflowID(""))
			f := found[id]
			if f == nil {
				f = &final{Final: record.Final{ID: id}}
				found[id] = f
			}
			if e.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				f.Chains++
			}
			if at := e.GetStartTime().AsTime(); at.After(f.started) {
				f.started, f.run = at, e.GetExecution().GetRunId()
				f.Open = e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			}
		}
		if token = reply.GetNextPageToken(); len(token) == 0 {
			return found, nil
		}
	}
}

// ask asks an execution how it stands or ended.
func (f *final) ask(ctx context.Context, c client.Client, id string) error {
	status := &gnomonv1.Status{}
	if f.Open {
		answer, err := c.QueryWorkflow(ctx, workflowv1.WorkflowID(id), f.run, workflowv1.QueryAction)
		if err != nil {
			return fmt.Errorf("%s cannot be asked: %w", id, err)
		}
		result := &workflowv1.CommandResult{}
		if err := answer.Get(result); err != nil {
			return err
		}
		f.GUID, status = result.GetAction().GetMeta().GetGuid(), result.GetAction().GetStatus()
	} else if c.GetWorkflow(ctx, workflowv1.WorkflowID(id), f.run).Get(ctx, status) != nil {
		// A workflow never fails because its action failed: this is a finding.
		f.State = "WORKFLOW_FAILED"
		return ctx.Err()
	}
	f.State = stateOf(status)
	f.Successful, f.Failed = status.GetSuccessfulAttemptsCounter(), status.GetFailedAttemptsCounter()
	f.Interrupted, f.Consecutive = status.GetInterruptedAttemptsCounter(), status.GetConsecutiveFailuresCounter()
	return nil
}
