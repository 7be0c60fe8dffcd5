package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"gnomon/store"
	"gnomon/store/internal/mirror"
)

// hashID is mirror.HashID; SQLite's integers are signed, hence the conversion.
func hashID(id string) int64 { return int64(mirror.HashID(id)) }

// columns gives the parameters of a write.
func columns(row store.Row, now time.Time, ttl time.Duration) ([]any, error) {
	c, err := mirror.Derive(row, now, ttl)
	if err != nil {
		return nil, err
	}
	labels, err := labelsJSON(c.Labels)
	if err != nil {
		return nil, fmt.Errorf("the row of %q: Action.Meta.Labels cannot be encoded: %w", c.ID, err)
	}
	var expireAt sql.NullInt64
	if c.Tombstone {
		expireAt = sql.NullInt64{Int64: c.ExpireAt.UnixMicro(), Valid: true}
	}
	return []any{
		sql.Named("hash", int64(c.Hash)),
		sql.Named("id", c.ID),
		sql.Named("guid", c.GUID),
		sql.Named("scheduled_at", c.ScheduledAt),
		sql.Named("meta", blob(c.Meta)),
		sql.Named("spec", blob(c.Spec)),
		sql.Named("status", blob(c.Status)),
		sql.Named("revision", c.Revision),
		sql.Named("chain", c.Chain),
		sql.Named("tombstone", c.Tombstone),
		sql.Named("expire_at", expireAt),
		sql.Named("deleted_by", c.DeletedBy),
		sql.Named("state", int64(c.State)),
		sql.Named("kind", c.Kind),
		sql.Named("labels", labels),
		sql.Named("now", now.UnixMicro()),
	}, nil
}

// blob is a parameter that is NULL for an absent message, not an empty one.
func blob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// labelsJSON gives an object. HTML escaping is off, so that people can search the
// column by eye.
func labelsJSON(labels map[string]string) (string, error) {
	if len(labels) == 0 {
		return "{}", nil
	}
	return textJSON(labels)
}

// textJSON gives v as one line of JSON.
func textJSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSpace(b.Bytes())), nil
}

// scanRow reads what selectRow selects.
func scanRow(scan func(...any) error) (store.Row, error) {
	var (
		meta, spec, status sql.Null[[]byte] // the driver gives an empty blob as a nil slice
		stored             mirror.Stored
	)
	err := scan(&meta, &spec, &status, &stored.Revision, &stored.Chain, &stored.Tombstone, &stored.DeletedBy)
	if err != nil {
		return store.Row{}, err
	}
	stored.Meta, stored.Spec, stored.Status = present(meta), present(spec), present(status)
	return stored.Decode()
}

// present is nil for NULL only.
func present(b sql.Null[[]byte]) []byte {
	if b.Valid && b.V == nil {
		return []byte{}
	}
	return b.V
}
