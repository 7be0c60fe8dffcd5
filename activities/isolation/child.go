package isolation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"gnomon/activities/performers"
	workflowv1 "gnomon/api/gnomon/workflow/v1"
	"gnomon/tracing"
)

// Variable in the environment tells a process that it is to perform for its parent.
const Variable = "GNOMON_PERFORMERS_OF_PARENT"

// inherited is the descriptor of the child's end: the first of exec.Cmd.ExtraFiles.
const inherited = 3

// maxMessage bounds a message in bytes. A spec has at most 1 MiB.
const maxMessage = 16 << 20

// Asked says whether this process was started to perform for its parent.
func Asked() bool { return os.Getenv(Variable) != "" }

// Serve performs for the parent by set until the parent is gone. What is performed then
// is told to stop, and not waited for: nobody would hear how it ended. Spans go to traces, which
// may be nil.
func Serve(set performers.Set, traces *tracing.Tracing, log *slog.Logger) error {
	if !Asked() {
		// The descriptor would be somebody else's.
		return fmt.Errorf("only a worker starts a process that performs for it (%s is not set)", Variable)
	}
	conn, err := connection(inherited)
	if err != nil {
		return fmt.Errorf("a process with %s must be started by a worker: %w", Variable, err)
	}
	// Of two processes that cost the machine its memory this one is the smaller loss.
	// Where that cannot be said, nothing is lost but the preference.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	listener := newOnce(conn)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))
	workflowv1.RegisterPerformerServiceServer(server, &service{set: set, traces: traces, log: log})
	defer server.Stop()
	if err := server.Serve(listener); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

type service struct {
	workflowv1.UnimplementedPerformerServiceServer

	set    performers.Set
	traces *tracing.Tracing
	log    *slog.Logger
}

// Perform implements PerformerServiceServer.
func (s *service) Perform(stream grpc.BidiStreamingServer[workflowv1.PerformRequest, workflowv1.PerformResponse]) error {
	in, err := stream.Recv()
	if err != nil {
		return err
	}
	performer, ok := s.set[in.GetKind()]
	if !ok {
		return status.Errorf(codes.Unimplemented, "the performers' process has no %q", in.GetKind())
	}
	ctx, cancel := context.WithCancel(s.traces.ExtractRPC(stream.Context()))
	defer cancel()
	if limit := in.GetTimeLimit(); limit != nil {
		bounded, done := context.WithTimeout(ctx, limit.AsDuration())
		defer done()
		ctx = bounded
	}
	go func() {
		// Whatever comes second asks to stop: a message, or the end of the worker.
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			cancel()
		}
	}()
	return stream.Send(s.answer(ctx, performer, in))
}

// answer performs and says how that ended.
func (s *service) answer(ctx context.Context, p performers.Performer, in *workflowv1.PerformRequest) *workflowv1.PerformResponse {
	reply, err := performers.Guarded(ctx, p, performers.Request{
		Action: in.GetAction(), ID: in.GetId(), GUID: in.GetGuid(), Occurrence: in.GetOccurrence().AsTime(),
		Attempt: in.GetAttempt(), IdempotencyKey: in.GetIdempotencyKey(),
	}, s.log)
	out := &workflowv1.PerformResponse{Reply: performers.Shorten(reply.Text)}
	if err != nil {
		out.Error = performers.Shorten(err.Error())
		out.Permanent, out.Interrupted = performers.IsPermanent(err), performers.IsInterruption(err)
	}
	return out
}
