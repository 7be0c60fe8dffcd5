package channels

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/notices"
)

// maxProblems is how many problems a message names.
const maxProblems = 100

// Message is a notice as the other side gets it: the body of a webhook.
type Message struct {
	// Event is one of package notices, Key the notice's.
	Event string `json:"event"`
	Key   string `json:"key"`
	// BatchID is the user's name for the batch, BatchUID tells it from all others.
	BatchID  string `json:"batchId"`
	BatchUID string `json:"batchUid"`
	// State is where it stands, such as MANUAL_REVIEW, in which round.
	State string `json:"state"`
	Round uint32 `json:"round"`
	// ScheduledAt is its time (RFC 3339).
	ScheduledAt time.Time `json:"scheduledAt"`
	// Pending, Complete and Failed count its changes.
	Pending  uint32 `json:"pendingChanges"`
	Complete uint32 `json:"completeChanges"`
	Failed   uint32 `json:"failedChanges"`
	// Problems are the first ones, More how many there are beside them.
	Problems []Problem `json:"problems"`
	More     int       `json:"moreProblems,omitempty"`
	// Link leads a person to the batch, if the configuration says how.
	Link string `json:"link,omitempty"`
}

// Problem is what stands against a batch, without the words, which may repeat what the
// batch holds.
type Problem struct {
	// ChangeIndex is absent for the batch as a whole.
	ChangeIndex *int32 `json:"changeIndex,omitempty"`
	Severity    string `json:"severity"`
	Code        string `json:"code"`
}

// messageOf says a notice. In link {id} stands for the batch's id.
func messageOf(n notices.Notice, link string) Message {
	b := n.Batch
	s := b.GetStatus()
	m := Message{
		Event: n.Event, Key: n.Key, BatchID: b.GetId(), BatchUID: b.GetUid(),
		State: s.GetState().String(), Round: s.GetRound(), ScheduledAt: b.GetScheduledAt().AsTime(),
		Pending: s.GetPendingChanges(), Complete: s.GetCompleteChanges(), Failed: s.GetFailedChanges(),
		Problems: []Problem{},
		Link:     strings.ReplaceAll(link, "{id}", url.PathEscape(b.GetId())),
	}
	for _, p := range s.GetProblems() {
		if len(m.Problems) == maxProblems {
			m.More = len(s.GetProblems()) - maxProblems
			break
		}
		m.Problems = append(m.Problems, Problem{ChangeIndex: p.ChangeIndex, Severity: p.GetSeverity().String(), Code: p.GetCode()})
	}
	return m
}

// subject is a line for people.
func (m Message) subject() string {
	if m.Event == notices.ScheduledChangeFailed {
		return fmt.Sprintf("Batch %s needs a review (%s)", m.BatchID, m.Event)
	}
	return fmt.Sprintf("Batch %s ended: %s", m.BatchID, m.State)
}

// text is the whole message for people.
func (m Message) text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "%s\n\n", m.subject())
	fmt.Fprintf(&t, "Batch:    %s\nState:    %s, round %d\nDue:      %s\n", m.BatchID, m.State, m.Round, m.ScheduledAt.Format(time.RFC3339))
	fmt.Fprintf(&t, "Changes:  %d complete, %d failed, %d not finished\n", m.Complete, m.Failed, m.Pending)
	if len(m.Problems) > 0 {
		t.WriteString("Problems:\n")
	}
	for _, p := range m.Problems {
		where := "the batch"
		if p.ChangeIndex != nil {
			where = fmt.Sprint("change ", *p.ChangeIndex)
		}
		fmt.Fprintf(&t, "  %s: %s (%s)\n", where, p.Code, strings.ToLower(p.Severity))
	}
	if m.More > 0 {
		fmt.Fprintf(&t, "  and %d more\n", m.More)
	}
	if m.Link != "" {
		fmt.Fprintf(&t, "\n%s\n", m.Link)
	}
	if m.State == gnomonv1.BatchStatus_MANUAL_REVIEW.String() {
		fmt.Fprintf(&t, "\nIt waits for a person: gnomon batch review %s --retry, --reschedule or --cancel.\n", m.BatchID)
	}
	return t.String()
}
