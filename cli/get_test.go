package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// retrying is an action that has something to tell.
func retrying(t *testing.T) *gnomonv1.ScheduledAction {
	t.Helper()
	action := waiting(t, "hello")
	action.Meta.UpdateTime = parseAction(t, `{"meta": {"updateTime": "2026-11-20T09:30:00Z"}}`).GetMeta().GetUpdateTime()
	action.Spec.SendPolicy.Deadline = parseAction(t, `{"meta": {"updateTime": "2026-11-22T13:00:00Z"}}`).GetMeta().GetUpdateTime()
	action.Status = parseAction(t, `{"status": {
		"state": "RETRYING", "scheduledAt": "2026-11-20T10:00:03.500Z",
		"failedAttemptsCounter": 2, "interruptedAttemptsCounter": 1, "consecutiveFailuresCounter": 3,
		"lastAttemptStatus": {"attempt": 3, "occurrence": "2026-11-20T09:59:00Z", "startTime": "2026-11-20T09:59:57Z",
			"finishTime": "2026-11-20T09:59:58.250Z", "outcome": "FAILURE", "error": "status 503", "reply": "busy\u001b[2J\nnow",
			"worker": "host-a", "idempotencyKey": "hello/g/x"},
		"conditions": [
			{"type": "Mirrored", "status": "FALSE", "reason": "STORE_DOWN", "message": "the store does not answer"},
			{"type": "CommandsAccepted", "status": "TRUE"}]
	}}`).GetStatus()
	return action
}

// M-35 to M-41: everything of Status reaches the person.
func TestGetCard(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(retrying(t))
	got := fake.run(t, "action", "get", "hello").ok(t)
	require.Equal(t, `hello
  State      RETRYING
  Due        in 4s, 2026-11-20 11:00:03 CET (2026-11-20T10:00:03.5Z)
  Action     http_request  POST http://127.0.0.1:7790/hello
  Repeats    once, 3 retries
  Deadline   in 2d3h, 2026-11-22 14:00:00 CET (2026-11-22T13:00:00Z)
  Attempts   0 succeeded, 2 failed, 1 interrupted; 3 failures in a row
  Last       #3 of 2026-11-20T09:59:00Z, FAILURE after 1.25s, 2s ago
    error    status 503
    reply    busy\x1b[2J\nnow
    worker   host-a
  Condition  Mirrored=FALSE (STORE_DOWN): the store does not answer
  Condition  CommandsAccepted=TRUE
  Label      team=a
  Guid       guid-of-hello
  Created    1h ago, 2026-11-20 10:00:00 CET
  Updated    30m ago, 2026-11-20 10:30:00 CET
Spec
  startPolicy:
    startAt: '2026-11-20T10:00:05Z'
  sendPolicy:
    sendOncePolicy:
      retryPolicy:
        maxRetries: 3
        restartPeriodScale: 0s
        minRestartPeriod: 1s
        maxRestartPeriod: 60s
    deadline: '2026-11-22T13:00:00Z'
  action:
    httpRequest:
      method: POST
      url: http://127.0.0.1:7790/hello
      body: '{"hello":"world"}'
`, got.stdout)
	require.Equal(t, "warning: hello: Mirrored=FALSE (STORE_DOWN): the store does not answer\n", got.stderr)
}

func TestGetCardOfAFinishedActionHasNoDueTime(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	action := retrying(t)
	action.Status.State = gnomonv1.Status_FAILED
	fake.put(action)
	got := fake.run(t, "action", "get", "hello", "--no-color").ok(t)
	require.Contains(t, got.stdout, "State      FAILED")
	require.NotContains(t, got.stdout, "Due")
}

func TestGetForPrograms(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(retrying(t))
	asJSON := fake.run(t, "action", "get", "hello", "--fresh", "-o", "json").ok(t)
	requireProto(t, retrying(t), parseAction(t, asJSON.stdout))
	require.True(t, requestsOf[*gnomonv1.GetActionRequest](fake)[0].GetFresh())

	asYAML := fake.run(t, "action", "get", "hello", "-o", "yaml").ok(t)
	trees, err := decodeTrees("a.yaml", []byte(asYAML.stdout))
	require.NoError(t, err)
	require.Len(t, trees, 1)
	action, err := actionOf(trees[0])
	require.NoError(t, err)
	requireProto(t, retrying(t), action)
}

func TestColoursOnlyOnATerminalThatWantsThem(t *testing.T) {
	t.Parallel()
	fake := startFake(t)
	fake.put(retrying(t))
	terminal := invocation{address: fake.address, width: 100, height: 50}
	require.Contains(t, terminal.run(t.Context(), "action", "get", "hello").ok(t).stdout, "\x1b[33mRETRYING\x1b[m")
	require.Contains(t, terminal.run(t.Context(), "action", "list").ok(t).stdout, "\x1b[1mSTATE\x1b[m")

	require.NotContains(t, terminal.run(t.Context(), "action", "get", "hello", "--no-color").ok(t).stdout, "\x1b")
	terminal.getenv = map[string]string{"NO_COLOR": "1"}
	require.NotContains(t, terminal.run(t.Context(), "action", "get", "hello").ok(t).stdout, "\x1b")
	terminal.getenv = map[string]string{"TERM": "dumb"}
	require.NotContains(t, terminal.run(t.Context(), "action", "get", "hello").ok(t).stdout, "\x1b")
}
