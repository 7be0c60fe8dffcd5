package report

// Group says in which object of the JSON a figure is.
type Group string

// Groups of figures.
const (
	GroupRatios Group = "ratios"
	GroupCounts Group = "counts"
)

// Target is what a figure is to be. AtLeast and AtMost exclude each other.
type Target struct {
	Name    string
	Group   Group
	What    string
	Text    string
	AtMost  *float64
	AtLeast *float64
}

// Met says whether a figure reaches it.
func (t Target) Met(x float64) bool {
	return (t.AtMost == nil || x <= *t.AtMost) && (t.AtLeast == nil || x >= *t.AtLeast)
}

// noise is how many bytes of resident memory for each waiting action are none: over some
// thousands of actions a few pages of a heap of some megabytes come and go.
const noise = 100.0

// Targets are those of the table, in its order.
var Targets = []Target{
	{Name: "create_rate_vs_a1", Group: GroupRatios, What: "creates a second, 16 clients, against a1", Text: ">= 0.95", AtLeast: new(0.95)},
	{Name: "create_p99_vs_a1", Group: GroupRatios, What: "p99 of a create against a1", Text: "<= 1.2", AtMost: new(1.2)},
	{Name: "lag_p99_vs_a1", Group: GroupRatios, What: "p99 of the lag at a steady rate against a1", Text: "<= 1.1", AtMost: new(1.1)},
	{Name: "lag_p99_vs_ts", Group: GroupRatios, What: "the same against TS", Text: "<= 0.1", AtMost: new(0.1)},
	{Name: "herd_time_vs_a1", Group: GroupRatios, What: "herd of 1,000, time to the last, against a1", Text: "<= 1.05", AtMost: new(1.05)},
	{Name: "herd_time_vs_ts", Group: GroupRatios, What: "the same against TS", Text: "<= 0.3", AtMost: new(0.3)},
	{Name: "waiting_bytes_vs_a1", Group: GroupRatios, What: "bytes in the core tables of a waiting action against a1", Text: "<= 1.05", AtMost: new(1.05)},
	{Name: "events_once", Group: GroupCounts, What: "events of a once-action", Text: "16", AtMost: new(16.0), AtLeast: new(16.0)},
	{Name: "events_retry", Group: GroupCounts, What: "events of a retry", Text: "0", AtMost: new(0.0)},
	{Name: "events_tick", Group: GroupCounts, What: "events of a periodic tick", Text: "<= 11", AtMost: new(11.0)},
	{Name: "growth_create", Group: GroupRatios, What: "p99 of a create among many waiting against 1,000", Text: "<= 1.2", AtMost: new(1.2)},
	{Name: "growth_lag", Group: GroupRatios, What: "p99 of a probe's lag, the same", Text: "<= 1.2", AtMost: new(1.2)},
	{Name: "growth_list", Group: GroupRatios, What: "p99 of a page of a list, the same", Text: "<= 1.2", AtMost: new(1.2)},
	{Name: "rss_bytes_per_waiting", Group: GroupCounts, What: "resident bytes of worker and facade for each action that waits beyond the cache", Text: "0 (noise: 100)", AtMost: new(noise)},
	{Name: "recovery_seconds_over_limit", Group: GroupCounts, What: "attempt after a worker's kill -9, seconds beyond heartbeat timeout + delay + 1 s", Text: "<= 0", AtMost: new(0.0)},
	{Name: "list_p99_ms", Group: GroupCounts, What: "p99 of a page of 100 among the rows of SQLite, ms", Text: "<= 10", AtMost: new(10.0)},
	{Name: "mirror_rows_per_second", Group: GroupCounts, What: "rows a second, 16 writers, SQLite with full fsync", Text: ">= 5000", AtLeast: new(5000.0)},
}
