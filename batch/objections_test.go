package batch

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/rule"
)

// V-03: violations are problems like all others, each with its change's index.
func TestViolationsAreProblems(t *testing.T) {
	t.Parallel()
	b := valid()
	b.ScheduledAt = nil
	b.Changes = append(b.Changes, &gnomonv1.Change{})
	b.Changes[1].GetDnsRecord().Data[0] = string(make([]byte, MaxRecordLength+1))
	bad := Validate(b, now)
	got := Problems(bad)
	require.Len(t, got, 3)
	for _, p := range got {
		require.Equal(t, gnomonv1.Problem_HARD, p.GetSeverity())
		require.NotEmpty(t, p.GetMessage())
	}
	require.Nil(t, got[0].ChangeIndex)
	require.Equal(t, []string{"scheduled_at", rule.Required}, []string{got[0].GetField(), got[0].GetCode()})
	require.EqualValues(t, 1, got[1].GetChangeIndex())
	require.Equal(t, []string{"dns_record.data[0]", rule.TooLong}, []string{got[1].GetField(), got[1].GetCode()})
	require.EqualValues(t, 2, got[2].GetChangeIndex())
	require.Equal(t, []string{"", rule.Required}, []string{got[2].GetField(), got[2].GetCode()})
	require.Equal(t, []int{0}, Sound(b, bad))
}

func TestSoundChanges(t *testing.T) {
	t.Parallel()
	b := valid()
	require.Equal(t, []int{0, 1}, Sound(b, nil))
	require.Equal(t, []int{0, 1}, Sound(b, []rule.Violation{{Field: "changes"}, {Field: "labels[changes[0]]"}, {}}))
	b.Changes = make([]*gnomonv1.Change, MaxChanges+1)
	require.Empty(t, Sound(b, Validate(b, now)), "too many to be looked at")
}

func TestPathsAreTakenApart(t *testing.T) {
	t.Parallel()
	for _, i := range []int{0, 7, 999} {
		for _, field := range []string{"", "dns_record.data[3]", `http_change.headers["a]"]`} {
			path := ChangePath(i)
			if field != "" {
				path += "." + field
			}
			index, rest, ok := splitPath(path)
			require.True(t, ok, path)
			require.Equal(t, i, index)
			require.Equal(t, field, rest)
		}
	}
	for _, path := range []string{"", "changes", "changes[", "changes[]", "changes[x].a", "id"} {
		_, _, ok := splitPath(path)
		require.False(t, ok, path)
	}
}
