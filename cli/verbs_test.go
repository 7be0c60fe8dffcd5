package cli

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

func TestVerbs(t *testing.T) {
	t.Parallel()
	for verb, want := range map[string]string{
		"pause":   "paused a: PAUSED, due in 5s, 2026-11-20 11:00:05 CET\n",
		"resume":  "resumed a: SCHEDULED, due in 5s, 2026-11-20 11:00:05 CET\n",
		"trigger": "triggered a: RUNNING, due in 5s, 2026-11-20 11:00:05 CET\n",
		"delete":  "deleted a: DELETED\n",
	} {
		fake := startFake(t)
		fake.put(waiting(t, "a"))
		got := fake.run(t, "action", verb, "a", "--etag", "e", "--request-id", "r").ok(t)
		require.Equal(t, want, got.stdout)
		fake.mu.Lock()
		require.Len(t, fake.requests, 1)
		line, err := encodeLine(fake.requests[0])
		fake.mu.Unlock()
		require.NoError(t, err)
		require.JSONEq(t, `{"id": "a", "etag": "e", "requestId": "r"}`, string(line), verb)
	}
}

func TestVerbsGoOnAfterAFailure(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "a"), waiting(t, "c"))
	got := fake.run(t, "action", "pause", "a", "b", "c")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, 2, strings.Count(got.stdout, "paused "))
	require.Equal(t, "error: b: NOT_FOUND: no action \"b\"\nerror: 1 of 3 actions failed\n", got.stderr)
}

func TestVerbsOnManyPrintALineOfJSONEach(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "a"), waiting(t, "c"))
	got := fake.run(t, "action", "pause", "a", "b", "c", "-o", "json")
	require.Equal(t, ExitFailed, got.code)
	var ids []string
	for scanner := bufio.NewScanner(strings.NewReader(got.stdout)); scanner.Scan(); {
		ids = append(ids, parseAction(t, scanner.Text()).GetMeta().GetId())
	}
	require.Equal(t, []string{"a", "c"}, ids)
	first, _, _ := strings.Cut(got.stderr, "\n")
	require.JSONEq(t, `{"subject": "b", "code": 5, "message": "no action \"b\""}`, first)
}

func TestDeleteMissing(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	got := fake.run(t, "action", "delete", "a")
	require.Equal(t, ExitFailed, got.code)
	require.Equal(t, "error: NOT_FOUND: no action \"a\"\n", got.stderr)

	got = fake.run(t, "action", "delete", "a", "--allow-missing").ok(t)
	require.Equal(t, "missing a\n", got.stdout)
}

// A command that no worker has applied yet must not look like one that was.
func TestConditionsThatDoNotHoldAreWarnedOf(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(waiting(t, "a"))
	fake.conditions = []*gnomonv1.Condition{
		{Type: "Applied", Status: gnomonv1.Condition_FALSE, Reason: "NO_WORKER", Message: "kept until a worker is up"},
		{Type: "Mirrored", Status: gnomonv1.Condition_FALSE},
		{Type: "CommandsAccepted", Status: gnomonv1.Condition_TRUE},
	}
	const want = "warning: a: Applied=FALSE (NO_WORKER): kept until a worker is up\nwarning: a: Mirrored=FALSE\n"
	for _, args := range [][]string{
		{"get", "a"},
		{"pause", "a"},
		{"resume", "a"},
		{"trigger", "a", "-o", "json"},
		{"update", "a", "--in", "1h"},
		{"delete", "a"},
		{"create", "a", "--url", "http://h/"},
	} {
		require.Equal(t, want, fake.run(t, append([]string{"action"}, args...)...).ok(t).stderr, "%q", args)
	}
}
