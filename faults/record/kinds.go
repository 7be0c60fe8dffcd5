package record

import "time"

// Names of the files.
const (
	RunFile        = "run.json"
	ArrivalsFile   = "arrivals.jsonl"
	VisitsFile     = "visits.jsonl"
	CallsFile      = "calls.jsonl"
	InjectionsFile = "injections.jsonl"
	RowsFile       = "rows.jsonl"
	FinalsFile     = "finals.jsonl"
	StoreFile      = "gnomon.db"
)

// Run says what was run and by which limits it is judged.
type Run struct {
	// Scenario is its name and Faults those of faults.md that it injects.
	Scenario string   `json:"scenario"`
	Faults   []string `json:"faults"`
	// Heartbeat is the workers' heartbeat timeout.
	Heartbeat time.Duration `json:"heartbeat"`
	// Flight is how long after Temporal let an attempt begin its request may arrive.
	Flight time.Duration `json:"flight"`
	// Tolerance is added to the limits of times on a machine that does other things.
	Tolerance time.Duration `json:"tolerance"`
	// Linearizable asks for every id's history to be checked.
	Linearizable bool `json:"linearizable"`
	// End is when everything had come to rest.
	End time.Time `json:"end"`
}

// Operations of clients.
const (
	Create  = "create"
	Update  = "update"
	Delete  = "delete"
	Pause   = "pause"
	Resume  = "resume"
	Trigger = "trigger"
)

// Call is one operation of a client: all its tries under one request_id.
type Call struct {
	Client    int    `json:"client"`
	Op        string `json:"op"`
	ID        string `json:"id"`
	RequestID string `json:"request_id,omitempty"`
	Etag      string `json:"etag,omitempty"`
	// Call is when it was first tried, Return when the last try was over.
	Call   time.Time `json:"call"`
	Return time.Time `json:"return"`
	// Tries is how often it was sent, Lost how many answers were withheld.
	Tries int `json:"tries"`
	Lost  int `json:"lost,omitempty"`
	// Code is the last answer's; empty if no answer was heard.
	Code string `json:"code,omitempty"`
	// GUID is that of the reply, Applied whether it was not left for a worker.
	GUID    string `json:"guid,omitempty"`
	Applied bool   `json:"applied,omitempty"`
	// Spec is what was asked for by create and update.
	Spec *Spec `json:"spec,omitempty"`
}

// Spec is what the judge has to know of one.
type Spec struct {
	Path     string        `json:"path"`
	Due      time.Time     `json:"due"`
	Deadline time.Time     `json:"deadline,omitzero"`
	Retries  uint32        `json:"retries,omitempty"`
	Delay    time.Duration `json:"delay,omitempty"`
	Period   time.Duration `json:"period,omitempty"`
}

// Visit is one request from its arrival to its end.
type Visit struct {
	ID         string    `json:"id"`
	GUID       string    `json:"guid"`
	Occurrence time.Time `json:"occurrence"`
	Attempt    uint32    `json:"attempt"`
	Key        string    `json:"key"`
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended"`
	// Status is the answer's; 0 if the client left before it had one.
	Status int `json:"status"`
}

// Kinds of injections. Those of F5, F6 and F11 are stretches of time.
const (
	KillWorker   = "kill-worker"
	KillTemporal = "kill-temporal"
	KillFacade   = "kill-facade"
	Outage       = "no-worker"
	Healthy      = "healthy"
	Aftermath    = "aftermath"
	StoreDown    = "store-down"
	StoreSlow    = "store-slow"
	StoreErrors  = "store-errors"
	StoreUnsound = "store-unsound"
	RowRemoved   = "row-removed"
	ClockOff     = "clock-off"
	Barrier      = "barrier"
	Race         = "race"
	Planted      = "planted"
	Died         = "died"
	BadSignals   = "bad-signals"
	ManySignals  = "many-signals"
	DeadlineSet  = "deadline"
)

// Injection is one thing that was done, or a stretch of time in which it lasted.
type Injection struct {
	Fault string    `json:"fault"`
	Kind  string    `json:"kind"`
	At    time.Time `json:"at"`
	// Until is the end of its effect: ready again, well again.
	Until time.Time `json:"until,omitzero"`
	// Count is how many faults it stands for.
	Count int    `json:"count"`
	ID    string `json:"id,omitempty"`
	Note  string `json:"note,omitempty"`
	// Want and Got are compared by the judge where an injection can say itself what
	// must come of it.
	Want int64 `json:"want,omitempty"`
	Got  int64 `json:"got,omitempty"`
}

// Row is a row of the store as it stood at a time.
type Row struct {
	At       time.Time `json:"at"`
	ID       string    `json:"id"`
	GUID     string    `json:"guid"`
	Revision string    `json:"revision"`
	State    string    `json:"state"`
	// Shows is what else readers see of it: whether it is a tombstone, and the counters.
	Shows string `json:"shows,omitempty"`
}

// Final is what Temporal says of one action at the end.
type Final struct {
	ID string `json:"id"`
	// Open says that its workflow still runs.
	Open bool `json:"open"`
	// Chains is how many executions there were, those that continued as new not
	// counted.
	Chains int `json:"chains"`
	// GUID is only known of an open one.
	GUID        string `json:"guid,omitempty"`
	State       string `json:"state"`
	Successful  uint64 `json:"successful"`
	Failed      uint64 `json:"failed"`
	Interrupted uint64 `json:"interrupted"`
	Consecutive uint64 `json:"consecutive"`
}
