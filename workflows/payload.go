package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// readCommand reads the payload of a command, however it was written: by the
// facade as proto JSON or binary proto, by a person in the Web UI or the temporal
// CLI as plain JSON, or not at all. Field names are proto JSON's; an unknown one
// is an error, since a misspelt field would otherwise change something else.
func readCommand(raw converter.RawValue) (*workflowv1.Command, error) {
	return readPayload(raw, &workflowv1.Command{})
}

// readPayload reads a payload into c, which it returns.
func readPayload[M proto.Message](raw converter.RawValue, c M) (M, error) {
	var none M
	name := string(c.ProtoReflect().Descriptor().FullName())
	p := raw.Payload()
	if len(p.GetData()) == 0 || string(p.GetMetadata()[converter.MetadataEncoding]) == converter.MetadataEncodingNil {
		return c, nil
	}
	switch encoding := string(p.GetMetadata()[converter.MetadataEncoding]); encoding {
	case converter.MetadataEncodingProtoJSON, converter.MetadataEncodingJSON:
		if string(p.GetData()) == "null" {
			return c, nil
		}
		if err := protojson.Unmarshal(p.GetData(), c); err != nil {
			// The decoder's own text quotes the payload.
			return none, errors.New("its payload is not the JSON of " + name)
		}
		return c, nil
	case converter.MetadataEncodingProto:
		if err := proto.Unmarshal(p.GetData(), c); err != nil {
			return none, errors.New("its payload is not a " + name)
		}
		return c, nil
	default:
		return none, fmt.Errorf("its payload has the encoding %.32q", encoding)
	}
}
