// Package clients calls a facade as a client does that may lose an answer, repeats
// what was not answered under the same request_id, and records every call.
package clients

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"gnomon/action/life"
	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/faults/record"
)

// patience is how long one operation is tried for, and tryFor one try of it.
const (
	patience = 60 * time.Second
	tryFor   = 10 * time.Second
)

// Client is a client. Its methods may be called concurrently.
type Client struct {
	// Lose is the fraction of answers that are lost on their way (F4).
	Lose float64
	// Once makes it try only once: what is not answered may or may not have happened.
	Once bool

	service gnomonv1.ActionServiceClient
	conn    *grpc.ClientConn
	log     *record.Log
	lost    atomic.Int64

	mu     sync.Mutex
	served map[string]int
}

// Dial gives a client of the facades at some addresses, which calls them in turn and
// finds them again within moments, and records its calls in dir.
func Dial(dir string, addresses ...string) (*Client, error) {
	log, err := record.OpenLog(dir, record.CallsFile)
	if err != nil {
		return nil, err
	}
	c := &Client{log: log, served: map[string]int{}}
	soon := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.2, MaxDelay: 200 * time.Millisecond}
	facades := manual.NewBuilderWithScheme("facades")
	var state resolver.State
	for _, address := range addresses {
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
	}
	facades.InitialState(state)
	c.conn, err = grpc.NewClient(facades.Scheme()+":///",
		grpc.WithResolvers(facades),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: time.Second}),
		grpc.WithUnaryInterceptor(c.lose),
	)
	if err != nil {
		return nil, err
	}
	c.service = gnomonv1.NewActionServiceClient(c.conn)
	return c, nil
}

// Service is the bare service, whose calls are not recorded.
func (c *Client) Service() gnomonv1.ActionServiceClient { return c.service }

// Lost is how many answers were lost so far.
func (c *Client) Lost() int64 { return c.lost.Load() }

// Served is how many calls each facade has answered, by its address.
func (c *Client) Served() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.served)
}

// Close ends it.
func (c *Client) Close() error {
	_ = c.conn.Close()
	return c.log.Close()
}

type lossKey struct{}

// lose makes the call and withholds its answer, as drawn.
func (c *Client) lose(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
	var from peer.Peer
	err := call(ctx, method, req, reply, conn, append(o, grpc.Peer(&from))...)
	if code := status.Code(err); code == codes.Unavailable || code == codes.DeadlineExceeded {
		return err // there is no answer to lose
	}
	if from.Addr != nil {
		c.mu.Lock()
		c.served[from.Addr.String()]++
		c.mu.Unlock()
	}
	withheld, ok := ctx.Value(lossKey{}).(*int)
	if ok && rand.Float64() < c.Lose { //nolint:gosec // drawn, not secret
		*withheld++
		c.lost.Add(1)
		return status.Error(codes.DeadlineExceeded, "the answer was lost on its way")
	}
	return err
}

// do tries an operation until it is answered and records it.
func (c *Client) do(ctx context.Context, r record.Call, call func(context.Context) (*gnomonv1.ScheduledAction, error)) record.Call {
	r.Call = time.Now().UTC()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		r.Tries++
		lost := r.Lost
		one, done := context.WithTimeout(context.WithValue(ctx, lossKey{}, &r.Lost), tryFor)
		reply, err := call(one)
		done()
		code := status.Code(err)
		if err == nil {
			r.GUID, r.Applied = reply.GetMeta().GetGuid(), applied(reply)
		}
		again := code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Canceled
		if !again {
			r.Code = code.String()
			break
		}
		if c.Once || ctx.Err() != nil {
			break // it may or may not have happened
		}
		if r.Lost == lost { // nobody is there to answer
			pause(ctx, 20*time.Millisecond)
		}
	}
	r.Return = time.Now().UTC()
	c.log.Add(r)
	return r
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// applied says whether a reply is not that of a command which was only left.
func applied(a *gnomonv1.ScheduledAction) bool {
	for _, c := range a.GetStatus().GetConditions() {
		if c.GetType() == life.ConditionApplied && c.GetStatus() == gnomonv1.Condition_FALSE {
			return false
		}
	}
	return true
}
