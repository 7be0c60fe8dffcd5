package main

// connected are the tests of how a worker connects.
var connected = in("worker")

// ofConnection are bugs of a worker's connection to Temporal: worker/connection.go.
var ofConnection = []mutant{
	{
		name: "short-histories-tied", requirement: "issue 8", tests: connected,
		why:   "in a herd every workflow task waits for the worker that has the workflow, and times out",
		edits: alone("worker/connection.go", "\t\tif !l.has(r.GetTaskToken()) {\n", "\t\tif r == nil {\n"),
	},
	{
		name: "long-histories-untied", requirement: "issue 8", tests: connected,
		why:   "each task of a long history has all of it read and replayed",
		edits: alone("worker/connection.go", "\tl.tokens[string(task.GetTaskToken())] = struct{}{}\n", ""),
	},
	{
		name: "task-with-a-reply-overlooked", requirement: "issue 8", tests: connected,
		why:   "a long history is untied by the task that came with a reply",
		edits: alone("worker/connection.go", "\t\tl.note(r.GetWorkflowTask())\n", ""),
	},
	{
		name: "completion-sent-again-untied", requirement: "issue 8", tests: connected,
		why: "a completion that the SDK sends again differs from the first",
		edits: alone("worker/connection.go", "\tif err := invoke(ctx, method, req, reply, conn, opts...); err != nil {\n\t\treturn err\n",
			"\tif err := invoke(ctx, method, req, reply, conn, opts...); err != nil {\n\t\tl.tokens = nil\n\t\treturn err\n"),
	},
	{
		name: "answered-tasks-remembered", requirement: "issue 8", tests: connected,
		why: "the memory of a worker grows with each task",
		edits: alone("worker/connection.go", "ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {\n",
			"ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok && r == nil {\n"),
	},
	{
		name: "failed-tasks-remembered", requirement: "issue 8", tests: connected,
		why:   "the memory of a worker grows with each task that fails",
		edits: alone("worker/connection.go", "\t\tl.forget(r.GetTaskToken())\n\t}\n\tif err", "\t}\n\tif err"),
	},
	{
		name: "unanswered-tasks-remembered", requirement: "issue 8", tests: connected,
		why:   "the memory of a worker grows with each task that nobody answers",
		edits: alone("worker/connection.go", "l.tokens == nil || len(l.tokens) >= remembered", "l.tokens == nil"),
	},
}
