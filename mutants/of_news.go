package main

// ofNews are bugs in what an agent tells its core.
var ofNews = []mutant{
	{
		name: "agent-tells-each-step", requirement: "issue 8", tests: ofNodes,
		why:   "an action that is over at once is told in three signals and seen in as many cycles",
		edits: alone("agent/news.go", "\t\tpause(ctx, newsGather)\n", ""),
	},
	{
		name: "agent-tells-without-limit", requirement: "issue 8", tests: ofNodes,
		why:   "an agent whose actions are quick fills the history of its cluster",
		edits: alone("agent/news.go", "rate.NewLimiter(rate.Every(newsEvery), newsBurst)", "rate.NewLimiter(rate.Inf, newsBurst)"),
	},
	{
		name: "agent-tells-once", requirement: "R-10", tests: ofNodes,
		why:   "news that the core did not hear are not told again",
		edits: alone("agent/news.go", "!announce(ctx) && ctx.Err() == nil", "!announce(ctx) && false"),
	},
}
