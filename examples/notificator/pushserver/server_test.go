package pushserver_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	notificatorv1 "gnomon/api/gnomon/notificator/v1"
	gnomonv1 "gnomon/api/gnomon/v1"

	"gnomon/activities/performers"
	"gnomon/examples/notificator/pushserver"
)

// serve runs the server; stop ends it, after which out may be read.
func serve(t *testing.T, out *bytes.Buffer, failFirst int) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := pushserver.New(out, failFirst).GRPC()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	stop = func() {
		s.Stop()
		<-done
	}
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// M-04: gnomon's performer delivers through it, each push once.
func TestPerformerDeliversEachPushOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	address, stop := serve(t, &out, 1)
	set, err := performers.New(performers.Config{Notificator: performers.NotificatorConfig{Address: address}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, set.Close()) })
	action := &gnomonv1.Action{Action: &gnomonv1.Action_SendTechnicalPush{SendTechnicalPush: &gnomonv1.SendTechnicalPush{
		Recipient: "device-7", Type: "re\nfresh", Payload: []byte(strings.Repeat("x", 200)),
	}}}
	p, err := set.For(action)
	require.NoError(t, err)
	perform := func(key string) (performers.Reply, error) {
		return p.Perform(t.Context(), performers.Request{Action: action, ID: "a", GUID: "g", Occurrence: time.Now(), Attempt: 1, IdempotencyKey: key})
	}

	reply, err := perform("a/g/1")
	require.EqualError(t, err, "the Notificator answered Unavailable")
	require.Equal(t, "call 1 of 1 that fail", reply.Text)
	for range 2 {
		reply, err = perform("a/g/1")
		require.NoError(t, err)
		require.Equal(t, "push-1", reply.Text)
	}
	_, err = perform("a/g/2")
	require.Error(t, err, "each push fails by itself")
	reply, err = perform("a/g/2")
	require.NoError(t, err)
	require.Equal(t, "push-2", reply.Text)

	stop()
	const about = `  recipient="device-7" type="re\\nfresh" key="a/g/`
	payload := `  "` + strings.Repeat("x", 80) + `"`
	var pattern strings.Builder
	for _, line := range []string{
		"failed" + about + `1" call=1 push_id=` + payload,
		"push  " + about + `1" call=2 push_id=push-1` + payload,
		"again " + about + `1" call=3 push_id=push-1` + payload,
		"failed" + about + `2" call=1 push_id=` + payload,
		"push  " + about + `2" call=2 push_id=push-2` + payload,
	} {
		pattern.WriteString(`\d\d:\d\d:\d\d\.\d{3}  ` + line + "\n")
	}
	require.Regexp(t, "^"+pattern.String()+"$", out.String())
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// notificator.proto: the idempotency key is in the message and in the metadata.
func TestKeyMustBeThereAndTheSame(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, &bytes.Buffer{}, 0)
	client := notificatorv1.NewNotificatorClient(dial(t, address))
	_, err := client.SendTechnicalPush(t.Context(), &notificatorv1.SendTechnicalPushRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "idempotency-key", "other")
	_, err = client.SendTechnicalPush(ctx, &notificatorv1.SendTechnicalPushRequest{IdempotencyKey: "one"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestHealthAndReflection(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, &bytes.Buffer{}, 0)
	conn := dial(t, address)
	const service = "gnomon.notificator.v1.Notificator"
	h, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, h.GetStatus())

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	require.NoError(t, err)
	require.NoError(t, stream.Send(&reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{},
	}))
	reply, err := stream.Recv()
	require.NoError(t, err)
	var names []string
	for _, s := range reply.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	require.Contains(t, names, service)
}
