package roster

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/playbook"
	"gnomon/store"
	"gnomon/store/internal/mirror"
)

// Columns are a row of either kind as it is stored: the message and all that is derived
// from it, so that the two cannot differ.
type Columns struct {
	Hash uint64
	// Cluster and ID are the key of a node action, ID that of a playbook.
	Cluster, ID string
	// Node and Playbook are a node action's.
	Node, Playbook string
	State          int32
	CreatedAt      int64  // microseconds since 1970 UTC
	FinishedAt     *int64 // as CreatedAt, nil if it has not finished
	Revision       string
	RequestID      string
	Digest         string
	Content        []byte // gnomon.v1.NodeAction or gnomon.v1.Playbook
}

// HashNodeAction leads the key of a node action, to spread the load.
func HashNodeAction(cluster, id string) uint64 { return mirror.HashID(cluster + "/" + id) }

// HashPlaybook leads the key of a playbook.
func HashPlaybook(id string) uint64 { return mirror.HashID(id) }

// NodeActions gives the columns of rows, of each action its newest.
func NodeActions(rows []store.NodeActionRow) ([]Columns, error) {
	all := make([]Columns, 0, len(rows))
	at := map[[2]string]int{}
	for _, row := range rows {
		a := row.Action
		c, err := columns(a, a.GetCreateTime(), a.GetId())
		if err != nil {
			return nil, err
		}
		if a.GetCluster() == "" {
			return nil, errors.New("a row's Action.Cluster must not be empty")
		}
		if playbook.Finished(a.GetState()) {
			c.finish(a.GetFinishTime())
		}
		c.Hash = HashNodeAction(a.GetCluster(), a.GetId())
		c.Cluster, c.Node, c.Playbook, c.State = a.GetCluster(), a.GetNode(), a.GetPlaybook(), int32(a.GetState())
		c.Revision, c.RequestID, c.Digest = row.Revision.Encode(), row.RequestID, row.Digest
		key := [2]string{c.Cluster, c.ID}
		i, twice := at[key]
		switch {
		case !twice:
			at[key] = len(all)
			all = append(all, c)
		case c.Over(all[i].Revision, all[i].RequestID, all[i].Digest):
			all[i] = c
		}
	}
	return all, nil
}

// Playbook gives the columns of a row.
func Playbook(row store.PlaybookRow) (Columns, error) {
	p := row.Playbook
	c, err := columns(p, p.GetCreateTime(), p.GetId())
	if err != nil {
		return Columns{}, err
	}
	if playbook.Ended(p.GetStatus().GetState()) {
		c.finish(p.GetStatus().GetFinishTime())
	}
	c.Hash, c.Cluster, c.State = HashPlaybook(p.GetId()), p.GetCluster(), int32(p.GetStatus().GetState())
	c.Revision, c.RequestID, c.Digest = row.Revision.Encode(), row.RequestID, row.Digest
	return c, nil
}

func columns(content proto.Message, created *timestamppb.Timestamp, id string) (Columns, error) {
	if id == "" {
		return Columns{}, errors.New("a row's id must not be empty")
	}
	if created != nil && !created.IsValid() {
		return Columns{}, fmt.Errorf("the row of %q: create_time must be in the years 1 to 9999", id)
	}
	encoded, err := proto.Marshal(content)
	if err != nil {
		return Columns{}, fmt.Errorf("the row of %q cannot be encoded: %w", id, err)
	}
	return Columns{ID: id, CreatedAt: created.AsTime().UnixMicro(), Content: encoded}, nil
}

// finish notes when it finished. What does not say when is as old as its creation.
func (c *Columns) finish(at *timestamppb.Timestamp) {
	c.FinishedAt = &c.CreatedAt
	if at.IsValid() {
		finished := at.AsTime().UnixMicro()
		c.FinishedAt = &finished
	}
}

// Over says whether the row replaces one that stands, and has it keep what that alone
// names.
func (c *Columns) Over(revision, requestID, digest string) bool {
	if c.Revision <= revision {
		return false
	}
	if c.RequestID == "" {
		c.RequestID, c.Digest = requestID, digest
	}
	return true
}

// Stored is what a row is read from.
type Stored struct {
	Content                     []byte
	Revision, RequestID, Digest string
}

// NodeAction decodes a row.
func (s Stored) NodeAction() (store.NodeActionRow, error) {
	row := store.NodeActionRow{Action: &gnomonv1.NodeAction{}, RequestID: s.RequestID, Digest: s.Digest}
	var err error
	row.Revision, err = s.decode(row.Action)
	return row, err
}

// Playbook decodes a row.
func (s Stored) Playbook() (store.PlaybookRow, error) {
	row := store.PlaybookRow{Playbook: &gnomonv1.Playbook{}, RequestID: s.RequestID, Digest: s.Digest}
	var err error
	row.Revision, err = s.decode(row.Playbook)
	return row, err
}

func (s Stored) decode(into proto.Message) (store.Revision, error) {
	if err := proto.Unmarshal(s.Content, into); err != nil {
		return store.Revision{}, fmt.Errorf("a row cannot be decoded: %w", err)
	}
	r, err := store.DecodeRevision(s.Revision)
	if err != nil {
		return store.Revision{}, fmt.Errorf("a row's revision: %w", err)
	}
	return r, nil
}
