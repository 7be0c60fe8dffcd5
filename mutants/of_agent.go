package main

// ofNodes are the tests of agents: the allow-list, the queue, the agent, and the command
// as processes.
var ofNodes = in("agent/kind", "agent/queue", "agent", "serve")

// ofAgent are bugs in the agent of a node.
var ofAgent = []mutant{
	{
		name: "agent-two-at-a-time", requirement: "R-01", tests: ofNodes,
		why: "a node runs two actions side by side",
		edits: alone("agent/queue/write.go", "\n\t\t\tAND NOT EXISTS (SELECT 1 FROM actions WHERE finished IS NULL AND state = ?)",
			"\n\t\t\tAND (state <> ?)"),
	},
	{
		name: "agent-order-of-arrival", requirement: "R-11", tests: ofNodes,
		why:   "a late-comer that was created first waits behind the others",
		edits: alone("agent/queue/write.go", "\n\t\t\tORDER BY created, id LIMIT 1`, gnomonv1", "\n\t\t\tORDER BY rowid LIMIT 1`, gnomonv1"),
	},
	{
		name: "agent-leaves-what-ran", requirement: "issue 6", tests: ofNodes,
		why:   "what a dead agent ran goes on beside the next action",
		edits: alone("agent/agent.go", "x.queue.Interrupted(ctx, time.Now(), kind.StopGroup)", "x.queue.Interrupted(ctx, time.Now(), func(string) error { return nil })"),
	},
	{
		name: "agent-answer-without-end", requirement: "R-09", tests: ofNodes,
		why:   "an answer larger than Temporal takes is tried for ever, and the node is cut off",
		edits: alone("agent/queue/read.go", "size -= len(record); size < 0 && len(changed) > 0", "size -= len(record); false && len(changed) > 0"),
	},
	{
		name: "agent-takes-anything", requirement: "R-15", tests: ofNodes,
		why:   "the local API takes what the core would refuse",
		edits: alone("agent/local.go", "\tif len(said) == 0 {\n", "\tif true {\n"),
	},
	{
		name: "agent-given-again-untold", requirement: "R-16", tests: ofNodes,
		why:   "an id that the agent has used long ago waits in the core for ever, and the node with it",
		edits: alone("agent/queue/write.go", "\t\t\tif err := put(ctx, tx, have); err != nil {\n\t\t\t\treturn err\n\t\t\t}\n", ""),
	},
	{
		name: "agent-request-cancelled-fails", requirement: "issue 6, cancel", tests: ofNodes,
		why:   "a request that is cancelled while its answer comes counts as a failure of its stage",
		edits: alone("agent/kind/http.go", "(err != nil || reply.Broken != nil) && ctx.Err() != nil", "err != nil && ctx.Err() != nil"),
	},
	{
		name: "agent-request-any-answer", requirement: "issue 6", tests: ofNodes,
		why:   "a request that is answered with an error is DONE",
		edits: alone("agent/kind/http.go", "reply.Status >= 200 && reply.Status <= 299", "reply.Status >= 200"),
	},
	{
		name: "agent-up-by-any-answer", requirement: "R-12", tests: ofNodes,
		why:   "a node whose service says that it does not work is given work",
		edits: alone("agent/health.go", "reply.StatusCode < 200 || reply.StatusCode > 299", "reply.StatusCode < 200"),
	},
	{
		name: "agent-socket-for-all", requirement: "issue 6", tests: ofNodes,
		why:   "any user of the node schedules on it",
		edits: alone("agent/local.go", "os.Chmod(path, 0o600)", "os.Chmod(path, 0o666)"),
	},
	{
		name: "agent-anywhere", requirement: "issue 6", tests: ofNodes,
		why:   "the local API, which asks nobody who they are, is served to the network",
		edits: alone("agent/local.go", "host != \"localhost\" && (ip == nil || !ip.IsLoopback())", "host != \"localhost\" && ip == nil"),
	},
	{
		name: "agent-no-grace", requirement: "issue 6", tests: ofNodes,
		why:   "a stop of the agent cuts off what would have ended in a moment",
		edits: alone("agent/runner.go", "time.NewTimer(r.grace)", "time.NewTimer(0 * r.grace)"),
	},
	{
		name: "agent-waits-for-temporal", requirement: "issue 6", tests: ofNodes,
		why:   "an agent that starts while Temporal is down does nothing on its node",
		edits: alone("serve/agent.go", "client.NewLazyClient(options)", "client.DialContext(ctx, options)"),
	},
	{
		name: "exec-option-for-a-value", requirement: "issue 6", tests: ofNodes,
		why:   "an option is smuggled in where a value was meant",
		edits: alone("agent/kind/allow.go", "strings.HasPrefix(word, \"-\") && !strings.HasPrefix(pattern, \"-\")", "false"),
	},
	{
		name: "exec-links-out", requirement: "issue 6", tests: ofNodes,
		why:   "a link in a permitted directory runs what is elsewhere",
		edits: alone("agent/kind/allow.go", "(!matches(p.words[0], resolved) || isShell(resolved))", "isShell(resolved)"),
	},
	{
		name: "exec-agents-environment", requirement: "issue 6", tests: ofNodes,
		why:   "programs get the agent's own secrets",
		edits: alone("agent/kind/exec.go", "cmd.Env = []string{\"PATH=\" + e.config.Path}", "cmd.Env = append(cmd.Environ(), \"PATH=\"+e.config.Path)"),
	},
}
