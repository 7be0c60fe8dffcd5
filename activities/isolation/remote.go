package isolation

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/tracing"
)

// leaveBehind is how long after its stop an answer is waited for. The activity does not
// wait as long.
const leaveBehind = 30 * time.Second

// remote is a performer of the other process.
type remote struct {
	process *Process
	kind    string
}

// Perform has the attempt made in the other process. If that dies meanwhile, the error
// is a [performers.Interruption].
func (p remote) Perform(ctx context.Context, r performers.Request) (performers.Reply, error) {
	client, err := p.process.client(ctx)
	if err != nil {
		return performers.Reply{}, err
	}
	// The call outlives ctx: a performer that stops has something to say.
	call, end := context.WithCancel(tracing.InjectRPC(context.WithoutCancel(ctx)))
	defer end()
	stream, err := client.Perform(call)
	if err != nil {
		return performers.Reply{}, p.lost(err)
	}
	in := &workflowv1.PerformRequest{
		Kind: p.kind, Action: r.Action, Id: r.ID, Guid: r.GUID, Occurrence: timestamppb.New(r.Occurrence),
		Attempt: r.Attempt, IdempotencyKey: r.IdempotencyKey,
	}
	if deadline, ok := ctx.Deadline(); ok {
		in.TimeLimit = durationpb.New(max(0, time.Until(deadline)))
	}
	// An error of Send is told by Recv.
	_ = stream.Send(in)
	stopped := context.AfterFunc(ctx, func() {
		// The other process knows the deadline, and should stop for that reason.
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			_ = stream.Send(&workflowv1.PerformRequest{Stop: true})
		}
		late := time.AfterFunc(leaveBehind, end)
		context.AfterFunc(call, func() { late.Stop() })
	})
	defer stopped()
	out, err := stream.Recv()
	if err != nil {
		return performers.Reply{}, p.lost(err)
	}
	return performers.Reply{Text: out.GetReply()}, said(ctx, out)
}

// lost is the error of an attempt that nobody answers for.
func (p remote) lost(err error) error {
	switch status.Code(err) {
	case codes.Unimplemented, codes.ResourceExhausted, codes.InvalidArgument:
		return errors.New(status.Convert(err).Message())
	default:
		return performers.Interruption(errors.New("the performers' process was lost"))
	}
}

// said is the error that the performer came back with.
func said(ctx context.Context, out *workflowv1.PerformResponse) error {
	switch {
	case out.GetError() == "":
		return nil
	case out.GetInterrupted():
		return performers.Interruption(errors.New(out.GetError()))
	}
	err := errors.New(out.GetError())
	if cause := over(ctx); cause != nil {
		err = told{out.GetError(), cause}
	}
	if out.GetPermanent() {
		return performers.Permanent(err)
	}
	return err
}

// over is why ctx has ended. Its own timer may be later than the other process's.
func over(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= 0 {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// told is an error in the words of the other process, and of this one's kind.
type told struct {
	text  string
	cause error
}

func (t told) Error() string { return t.text }
func (t told) Unwrap() error { return t.cause }
