package ledger

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
	"gnomon/store/internal/mirror"
)

// HeadColumns are a head as it is stored.
type HeadColumns struct {
	Hash            uint64
	ID, UID         string
	ScheduledAt     int64 // microseconds since 1970 UTC
	State           int32
	Revision, Fence uint64
	Batch, Problems []byte // gnomon.v1.Batch, gnomon.v1.BatchProblems
	CreateRequestID string
	Labels          map[string]string
}

// Columns encodes a head; what lists filter by is derived from it.
func (h *Head) Columns() (HeadColumns, error) {
	b, err := encode(h.Batch)
	if err != nil {
		return HeadColumns{}, fmt.Errorf("the batch %q cannot be encoded: %w", h.Batch.GetId(), err)
	}
	problems, err := encode(&gnomonv1.BatchProblems{Problems: h.Problems})
	if err != nil {
		return HeadColumns{}, fmt.Errorf("the problems of the batch %q cannot be encoded: %w", h.Batch.GetId(), err)
	}
	return HeadColumns{
		Hash: mirror.HashID(h.Batch.GetId()), ID: h.Batch.GetId(), UID: h.Batch.GetUid(),
		ScheduledAt: h.Batch.GetScheduledAt().AsTime().UnixMicro(), State: int32(h.Batch.GetStatus().GetState()),
		Revision: h.Revision, Fence: uint64(h.Fence), Batch: b, Problems: problems,
		CreateRequestID: h.CreateRequestID, Labels: h.Batch.GetLabels(),
	}, nil
}

// StoredHead is what a head is read from.
type StoredHead struct {
	Batch, Problems []byte
	Revision, Fence uint64
	CreateRequestID string
}

// Decode reads a head.
func (s StoredHead) Decode() (*Head, error) {
	h := &Head{Batch: &gnomonv1.Batch{}, Revision: s.Revision, Fence: store.Fence(s.Fence), CreateRequestID: s.CreateRequestID}
	problems := &gnomonv1.BatchProblems{}
	if err := proto.Unmarshal(s.Batch, h.Batch); err != nil {
		return nil, fmt.Errorf("a stored batch cannot be decoded: %w", err)
	}
	if err := proto.Unmarshal(s.Problems, problems); err != nil {
		return nil, fmt.Errorf("the stored problems of the batch %q cannot be decoded: %w", h.Batch.GetId(), err)
	}
	if h.Batch.GetStatus() == nil {
		return nil, fmt.Errorf("the stored batch %q has no status", h.Batch.GetId())
	}
	h.Problems = problems.GetProblems()
	return h, nil
}

// ChangeColumns are a change as it is stored.
type ChangeColumns struct {
	Index           int
	Content, Status []byte // gnomon.v1.Change without its status, gnomon.v1.ChangeStatus
	Fence           uint64
	Expires         int64 // microseconds since 1970 UTC; 0 where Fence is
}

// Columns encodes a change.
func (c *Change) Columns() (ChangeColumns, error) {
	content, err := encode(&gnomonv1.Change{Change: c.Change.GetChange()})
	if err != nil {
		return ChangeColumns{}, fmt.Errorf("the change %d cannot be encoded: %w", c.Index, err)
	}
	status, err := encode(c.Change.GetStatus())
	if err != nil {
		return ChangeColumns{}, fmt.Errorf("the status of the change %d cannot be encoded: %w", c.Index, err)
	}
	stored := ChangeColumns{Index: c.Index, Content: content, Status: status, Fence: uint64(c.Fence)}
	if c.Fence != 0 {
		stored.Expires = c.Expires.UnixMicro()
	}
	return stored, nil
}

// Decode reads a change.
func (s ChangeColumns) Decode() (*Change, error) {
	c := &Change{Index: s.Index, Change: &gnomonv1.Change{}, Fence: store.Fence(s.Fence)}
	status := &gnomonv1.ChangeStatus{}
	if err := proto.Unmarshal(s.Content, c.Change); err != nil {
		return nil, fmt.Errorf("the stored change %d cannot be decoded: %w", s.Index, err)
	}
	if err := proto.Unmarshal(s.Status, status); err != nil {
		return nil, fmt.Errorf("the stored status of the change %d cannot be decoded: %w", s.Index, err)
	}
	c.Change.Status = status
	if c.Fence != 0 {
		c.Expires = time.UnixMicro(s.Expires).UTC()
	}
	return c, nil
}

// encode never gives nil, which would be stored as NULL.
func encode(m proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return append([]byte{}, b...), err
}
