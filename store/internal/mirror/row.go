package mirror

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/store"
)

// Stored is what a store reads of a row; the helper columns are never read back.
type Stored struct {
	// Encoded messages; nil where there is none.
	Meta, Spec, Status []byte
	Revision, Chain    string
	Tombstone          bool
	DeletedBy          string
}

// Decode gives the row that was stored. An error names the column that cannot be
// read.
func (s Stored) Decode() (store.Row, error) {
	row := store.Row{Action: &gnomonv1.ScheduledAction{}, Chain: s.Chain, Tombstone: s.Tombstone, DeletedBy: s.DeletedBy}
	var err error
	if row.Revision, err = store.DecodeRevision(s.Revision); err != nil {
		return store.Row{}, fmt.Errorf("the column revision %w", err)
	}
	if row.Action.Meta, err = message[gnomonv1.Meta](s.Meta); err != nil {
		return store.Row{}, fmt.Errorf("the column meta cannot be read: %w", err)
	}
	if row.Action.Spec, err = message[gnomonv1.Spec](s.Spec); err != nil {
		return store.Row{}, fmt.Errorf("the column spec cannot be read: %w", err)
	}
	if row.Action.Status, err = message[gnomonv1.Status](s.Status); err != nil {
		return store.Row{}, fmt.Errorf("the column status cannot be read: %w", err)
	}
	return row, nil
}

// message decodes a blob; nil is an absent message.
func message[T any, P interface {
	*T
	proto.Message
}](b []byte) (P, error) {
	if b == nil {
		return nil, nil
	}
	m := P(new(T))
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	return m, nil
}
