package starter

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
)

// V-03: as many problems as can be, each as long as can be, reach the caller by gRPC and
// by REST: they travel in a trailer, which has limits of its own.
func TestAThousandProblemsReachTheCaller(t *testing.T) {
	t.Parallel()
	f := newBatchFacade(t)
	f.kind.more = ": " + strings.Repeat("x", batch.MaxTextLength-20)
	s := serveServices(t, nil, func(own *fakeService) Services { return Services{Actions: own, Batches: f.Batches} })
	b := wantedBatch("b", slices.Repeat([]string{"http://hard/TAKEN"}, batch.MaxChanges)...)
	_, err := gnomonv1.NewBatchServiceClient(s.conn).CreateBatch(t.Context(), &gnomonv1.CreateBatchRequest{Batch: b})
	said, info, fields := problemsOf(t, err)
	require.Len(t, said, batch.MaxProblems)
	require.Len(t, fields.GetFieldViolations(), batch.MaxProblems)
	require.Equal(t, "1000", info.GetMetadata()["problems"])

	body, err := protojson.Marshal(b)
	require.NoError(t, err)
	got := s.send(t, http.MethodPost, "/v1/batches", string(body))
	require.Equal(t, http.StatusBadRequest, got.code)
	requireReason(t, got.err(t), codes.InvalidArgument, "TAKEN")
	said, _, _ = problemsOf(t, got.err(t))
	require.Len(t, said, batch.MaxProblems)
	f.nothing(t)
}
