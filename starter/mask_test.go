package starter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// The contract: "spec" and "meta.labels" or "labels" are known; empty: both.
func TestUpdatePaths(t *testing.T) {
	t.Parallel()
	both := []string{"spec", "meta.labels"}
	for _, test := range []struct{ mask, want []string }{
		{nil, both},
		{[]string{"*"}, both},
		{[]string{"spec"}, []string{"spec"}},
		{[]string{"labels"}, []string{"meta.labels"}},
		{[]string{"meta.labels", "labels"}, []string{"meta.labels"}},
		{[]string{"labels", "spec", "spec"}, both},
	} {
		got, err := updatePaths(&fieldmaskpb.FieldMask{Paths: test.mask})
		require.NoError(t, err)
		require.Equal(t, test.want, got, test.mask)
	}
	got, err := updatePaths(nil)
	require.NoError(t, err)
	require.Equal(t, both, got)
	for _, path := range []string{"spec.start_policy", "meta", "meta.id", "status", "", "Spec", "meta.labels.a"} {
		_, err := updatePaths(&fieldmaskpb.FieldMask{Paths: []string{"spec", path}})
		requireViolation(t, err, "update_mask", ruleUnknownPath)
	}
}
