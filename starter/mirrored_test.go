package starter

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// stands is what an id has when the first row of one of its runs comes late.
type stands struct {
	row    *store.Row
	closed bool
	// writes says that the run's first row is still owed.
	writes bool
}

// standing are the cases of it for the run of this id.
func standing(run string) map[string]stands {
	return map[string]stands{
		"no row":                               {nil, false, true},
		"the tombstone before it":              {&store.Row{Chain: "another run", Tombstone: true}, false, true},
		"the tombstone of one that came after": {&store.Row{Chain: "another run", Tombstone: true}, true, false},
		"its own row":                          {&store.Row{Chain: run}, false, false},
		"its own, ended meanwhile":             {&store.Row{Chain: run, Tombstone: true}, false, false},
		"ended long ago":                       {nil, true, false},
	}
}

// F3, M-60: the facade that a create reached first was lost before it wrote the row.
// The one that is called again writes it before it answers, also where the row of the
// action that had the id before still stands. A row of this run is left alone, and a
// run that has closed gets none: its last row may have expired.
func TestCreateRepeatedSeesToItsRow(t *testing.T) {
	t.Parallel()
	for name, c := range standing("run of r-1") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f, rows := newFacade(t)
			f.run = func(req *workflowservice.StartWorkflowExecutionRequest) (string, error) {
				return "run of " + req.GetRequestId(), nil // as Temporal does
			}
			f.status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			if c.closed {
				f.status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
			}
			req := &gnomonv1.CreateActionRequest{Action: wantedAction("a"), RequestId: "r-1"}
			first, err := s.CreateAction(t.Context(), req)
			require.NoError(t, err)
			if c.row != nil {
				c.row.Action = wantedAction("a")
				rows.rows["a"] = *c.row
			}
			rows.inserted = nil
			_, err = s.CreateAction(t.Context(), req)
			require.NoError(t, err)
			if !c.writes {
				require.Empty(t, rows.inserted)
				return
			}
			require.Len(t, rows.inserted, 1)
			require.Equal(t, "run of r-1", rows.inserted[0].Chain)
			require.True(t, proto.Equal(first, rows.inserted[0].Action))
		})
	}
}
