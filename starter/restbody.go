package starter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"gnomon/action"
)

// jsonComplaint is how protojson says what it could not read; the space after
// "proto:" varies on purpose.
var jsonComplaint = regexp.MustCompile(`^proto:.(?:syntax error )?\(line (\d+):(\d+)\): (?s:(.*))$`)

// plainComplaint is the part of a complaint that quotes no value, which may be a
// secret: what was expected of which field, or the name that is one too many.
var plainComplaint = regexp.MustCompile(`^(?:` +
	`invalid value for \w+ (?:field \w+|type|key)|invalid [\w.]+ value|[\w.]+ value out of range|` +
	`(?:unknown field|duplicate field) "[^"]*"|error parsing "\w*", oneof [\w.]+ is already set` +
	`)`)

// unknownMessage is the complaint about the "@type" of an Any.
var unknownMessage = regexp.MustCompile(`^unable to resolve "([^"]*)"`)

// checkBody decodes a body as the service will, so that what cannot be decoded is
// refused with the path of the field, which the gateway does not know. Body has no
// white space around it; an empty one is fine.
func checkBody(body []byte, rule httpRule) error {
	if len(body) == 0 || rule.body == nil {
		return nil
	}
	if err := json.Unmarshal(body, &json.RawMessage{}); err != nil {
		return invalidField("body", ruleMalformedJSON, "must be one JSON value: "+err.Error())
	}
	err := protojson.Unmarshal(body, rule.body.New().Interface())
	if err == nil {
		return nil
	}
	prefix := rule.bodyField
	if prefix == "*" {
		prefix = ""
	}
	violation := action.Violation{Rule: ruleBadValue, Description: "does not fit the message"}
	// A few complaints have no place, such as that of half a surrogate pair.
	if complaint := jsonComplaint.FindStringSubmatch(err.Error()); complaint != nil {
		if plain := plainComplaint.FindString(complaint[3]); plain != "" {
			violation.Description = clip(plain, maxMetadataValue)
		}
		violation.Field = fieldName(rule.body.Descriptor(), jsonPath(body, byteOffset(body, complaint[1], complaint[2])))
		if strings.HasPrefix(complaint[3], "unknown field") {
			violation.Rule = ruleUnknownField
		}
		if url := unknownMessage.FindStringSubmatch(complaint[3]); url != nil {
			violation.Rule = ruleUnknownMessage
			violation.Description = fmt.Sprintf("gnomon does not know the message %q and cannot read it from JSON; "+
				"give one of google.protobuf, such as Struct, or send it over gRPC", clip(url[1], maxMetadataValue))
		}
	}
	if prefix == "" && violation.Field == "" {
		violation.Field = "body"
	}
	return invalid([]action.Violation{violation}, prefix)
}

// byteOffset turns line and column, counted in runes from 1, into an offset.
func byteOffset(body []byte, line, column string) int {
	row, _ := strconv.Atoi(line)
	runes, _ := strconv.Atoi(column)
	offset := 0
	for ; row > 1; row-- {
		end := bytes.IndexByte(body[offset:], '\n')
		if end < 0 {
			break
		}
		offset += end + 1
	}
	for ; runes > 1 && offset < len(body); runes-- {
		_, size := utf8.DecodeRune(body[offset:])
		offset += size
	}
	return offset
}

// jsonStep is a step into a JSON document: a key, or an index of an array.
type jsonStep struct {
	key   string
	index int // of an array's element, from 0
	array bool
	keyed bool // the key has been read, the value not yet
}

// jsonPath is the path to the token at an offset of a valid document.
func jsonPath(body []byte, offset int) []jsonStep {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // a number may be greater than any type; that is for protojson to say
	var path []jsonStep
	for {
		token, err := decoder.Token()
		if err != nil {
			return path
		}
		hit := decoder.InputOffset() > int64(offset)
		switch token {
		case json.Delim('{'), json.Delim('['):
			if hit {
				return path
			}
			path = append(path, jsonStep{array: token == json.Delim('[')})
			continue
		case json.Delim('}'), json.Delim(']'):
			path = path[:len(path)-1]
		default:
			if key, ok := token.(string); ok && len(path) > 0 && !path[len(path)-1].array && !path[len(path)-1].keyed {
				path[len(path)-1].key, path[len(path)-1].keyed = key, true
				if hit {
					return path
				}
				continue
			}
		}
		if hit || len(path) == 0 {
			return path
		}
		// A value has ended: the next element or key follows.
		last := &path[len(path)-1]
		last.keyed = false
		last.index++
	}
}

// fieldName is the path in the names of the protos, such as
// requests[1].action.spec; what the message does not know stays as it was sent.
func fieldName(message protoreflect.MessageDescriptor, path []jsonStep) string {
	var name strings.Builder
	var mapped bool
	for _, step := range path {
		if step.array {
			fmt.Fprintf(&name, "[%d]", step.index)
			continue
		}
		if step.key == "" && !step.keyed {
			break
		}
		text := clip(step.key, 64)
		if mapped {
			// As package action names the entries of maps.
			fmt.Fprintf(&name, "[%q]", text)
			mapped = false
			continue
		}
		switch field := findField(message, step.key); {
		case field != nil:
			text = string(field.Name())
			if mapped = field.IsMap(); mapped {
				message = field.MapValue().Message()
			} else {
				message = field.Message()
			}
		default:
			message = nil
		}
		if name.Len() > 0 {
			name.WriteByte('.')
		}
		name.WriteString(text)
	}
	return name.String()
}

// findField finds a field by its JSON or its proto name.
func findField(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if message == nil {
		return nil
	}
	if field := message.Fields().ByJSONName(name); field != nil {
		return field
	}
	return message.Fields().ByTextName(name)
}
