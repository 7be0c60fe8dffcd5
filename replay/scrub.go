package replay

import (
	"regexp"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// recorder stands for machine and process in recordings.
const recorder = "recorder"

// identity is a worker's as attempts put it into Status: host, build, process.
var identity = regexp.MustCompile(`gnomon-worker@[^/"\\]+/([^/"\\]+)/\d+`)

// Scrub takes out of a history what says on which machine and by which process it
// was recorded: identities, names of sticky task queues, workers in Status. No
// decision depends on them.
func Scrub(h *historypb.History) { scrub(h.ProtoReflect()) }

func scrub(m protoreflect.Message) {
	if q, ok := m.Interface().(*taskqueuepb.TaskQueue); ok && q.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
		q.Name = "sticky"
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, e protoreflect.Value) bool {
				v.Map().Set(k, scrubbed(f.MapValue(), e))
				return true
			})
		case f.IsList():
			for i := range v.List().Len() {
				v.List().Set(i, scrubbed(f, v.List().Get(i)))
			}
		case f.Name() == "identity" && f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(recorder))
		default:
			m.Set(f, scrubbed(f, v))
		}
		return true
	})
}

func scrubbed(f protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	const anyone = "gnomon-worker@" + recorder + "/$1/1"
	switch f.Kind() {
	case protoreflect.MessageKind:
		scrub(v.Message())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(identity.ReplaceAllString(v.String(), anyone))
	case protoreflect.BytesKind:
		// Payloads are JSON, whose length may change.
		return protoreflect.ValueOfBytes(identity.ReplaceAll(v.Bytes(), []byte(anyone)))
	default:
	}
	return v
}
