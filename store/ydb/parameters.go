package ydb

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3/table"
	"github.com/ydb-platform/ydb-go-sdk/v3/types"

	"gnomon/store/internal/mirror"
)

// statement is a text whose parameters are declared by their values, so that the
// two cannot differ.
type statement struct {
	text       string
	parameters []table.ParameterOption
	declared   strings.Builder
}

// add gives the statement a parameter. An empty list has no type: do not add one.
func (s *statement) add(name string, v types.Value) {
	s.parameters = append(s.parameters, table.ValueParam(name, v))
	fmt.Fprintf(&s.declared, declareFormat, name, v.Type().Yql())
}

// yql is what the server is sent.
func (s *statement) yql(prefix string) string {
	return fmt.Sprintf(prefixFormat, prefix) + s.declared.String() + s.text
}

// values are the parameters as the SDK has them.
func (s *statement) values() *table.QueryParameters { return table.NewQueryParameters(s.parameters...) }

// timestamp is a moment as YDB's Timestamp has it: from 1970 to 2105.
func timestamp(at time.Time) types.Value {
	return types.TimestampValue(uint64(min(max(0, at.UnixMicro()), lastTimestamp)))
}

// lastTimestamp is the last microsecond of a Timestamp, which ends with 2105.
var lastTimestamp = time.Date(2106, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1

// rowValue is a row as a parameter. inserts says that it is a facade's first one,
// writtenBy is the number of its write.
func rowValue(c mirror.Columns, inserts bool, writtenBy uint64) types.Value {
	expireAt := types.NullValue(types.TypeTimestamp)
	if c.Tombstone {
		expireAt = types.OptionalValue(timestamp(c.ExpireAt))
	}
	return types.StructValue(
		types.StructFieldValue("meta_action_id_hash", types.Uint64Value(c.Hash)),
		types.StructFieldValue("meta_action_id", types.TextValue(c.ID)),
		types.StructFieldValue("meta_action_guid", types.TextValue(c.GUID)),
		types.StructFieldValue("status_scheduled_at", types.Int64Value(c.ScheduledAt)),
		types.StructFieldValue("meta", blob(c.Meta)),
		types.StructFieldValue("spec", blob(c.Spec)),
		types.StructFieldValue("status", blob(c.Status)),
		types.StructFieldValue("revision", types.TextValue(c.Revision)),
		types.StructFieldValue("chain", types.TextValue(c.Chain)),
		types.StructFieldValue("tombstone", types.BoolValue(c.Tombstone)),
		types.StructFieldValue("expire_at", expireAt),
		types.StructFieldValue("deleted_by", types.TextValue(c.DeletedBy)),
		types.StructFieldValue("written_by", types.Uint64Value(writtenBy)),
		types.StructFieldValue("state", types.Int32Value(int32(c.State))),
		types.StructFieldValue("kind", types.TextValue(c.Kind)),
		types.StructFieldValue("labels", types.TextValue(labelsText(c.Labels))),
		types.StructFieldValue("inserts", types.BoolValue(inserts)),
	)
}

// blob is NULL for an absent message, not an empty one.
func blob(b []byte) types.Value {
	if b == nil {
		return types.NullValue(types.TypeBytes)
	}
	return types.OptionalValue(types.BytesValue(b))
}

// labelsText is the labels as the column has them. Each stands between ampersands,
// which escaping removes from keys and values, so that a label is found by its text
// and only whole.
func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		b.WriteString("&" + labelText(key, labels[key]))
	}
	return b.String() + "&"
}

// labelText is one label.
func labelText(key, value string) string { return url.QueryEscape(key) + "=" + url.QueryEscape(value) }
