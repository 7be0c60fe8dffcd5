package starter

import (
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// httpRule is what the protos say about one REST method.
type httpRule struct {
	// input makes an empty request of the method.
	input protoreflect.MessageType
	// bodyField is the field that the body fills; "*" is the whole request, "" none.
	bodyField string
	// body makes an empty message for the body; nil where there is none.
	body protoreflect.MessageType
	// streams: the answer has no end.
	streams bool
	// pathFields are the parameters of the path.
	pathFields map[string]bool
}

// readHTTPRules reads the annotations of services, by "METHOD template". Read from the
// protos, they cannot go stale when a method is added.
func readHTTPRules(services []service) (map[string]httpRule, error) {
	rules := map[string]httpRule{}
	for _, one := range services {
		if err := addHTTPRules(rules, one.descriptor.Methods()); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// addHTTPRules adds those of one service.
func addHTTPRules(rules map[string]httpRule, methods protoreflect.MethodDescriptors) error {
	for i := range methods.Len() {
		method := methods.Get(i)
		annotation, ok := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
		if !ok || annotation.GetPattern() == nil {
			continue
		}
		input, err := protoregistry.GlobalTypes.FindMessageByName(method.Input().FullName())
		if err != nil {
			return fmt.Errorf("find the request of %s: %w", method.FullName(), err)
		}
		verb, template := httpPattern(annotation)
		rule := httpRule{
			input: input, bodyField: annotation.GetBody(), streams: method.IsStreamingServer(),
			pathFields: templateFields(template),
		}
		switch field := input.Descriptor().Fields().ByName(protoreflect.Name(rule.bodyField)); {
		case rule.bodyField == "*":
			rule.body = input
		case field != nil:
			if rule.body, err = protoregistry.GlobalTypes.FindMessageByName(field.Message().FullName()); err != nil {
				return fmt.Errorf("find the body of %s: %w", method.FullName(), err)
			}
		}
		rules[verb+" "+template] = rule
	}
	return nil
}

// httpPattern is the method and the template of an annotation.
func httpPattern(rule *annotations.HttpRule) (verb, template string) {
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return http.MethodGet, pattern.Get
	case *annotations.HttpRule_Post:
		return http.MethodPost, pattern.Post
	case *annotations.HttpRule_Put:
		return http.MethodPut, pattern.Put
	case *annotations.HttpRule_Patch:
		return http.MethodPatch, pattern.Patch
	case *annotations.HttpRule_Delete:
		return http.MethodDelete, pattern.Delete
	}
	return "", ""
}

// templateFields are the names between braces.
func templateFields(template string) map[string]bool {
	fields := map[string]bool{}
	for part := range strings.SplitSeq(template, "{") {
		if name, _, ok := strings.Cut(part, "}"); ok {
			fields[name] = true
		}
	}
	return fields
}
