package starter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	workflowv1 "gnomon/api/gnomon/workflow/v1"
)

// SearchAttributes are those that gnomon's workflows set; a namespace must have
// them before the first action.
func SearchAttributes() map[string]enumspb.IndexedValueType {
	return map[string]enumspb.IndexedValueType{
		workflowv1.SearchKind:    enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflowv1.SearchTenant:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
		workflowv1.SearchOutcome: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
}

// EnsureSearchAttributes registers those of SearchAttributes that the namespace
// lacks. Without the right to do so it says what an operator has to run.
func EnsureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	operator := c.OperatorService()
	have, err := whileNew(ctx, namespaceUnknown, func() (*operatorservice.ListSearchAttributesResponse, error) {
		return operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return fmt.Errorf("the search attributes of namespace %q could not be listed: %w", namespace, err)
	}
	lacking := map[string]enumspb.IndexedValueType{}
	for name, kind := range SearchAttributes() {
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			lacking[name] = kind
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: lacking})
	var exists *serviceerror.AlreadyExists
	if err == nil || errors.As(err, &exists) {
		return nil
	}
	return fmt.Errorf("namespace %q lacks search attributes and they could not be added (%w); run: "+
		"temporal operator search-attribute create --namespace %s --name GnomonKind --type Keyword "+
		"--name GnomonTenant --type Keyword --name GnomonOutcome --type Keyword", namespace, err, namespace)
}

// namespaceKnown is within what time Temporal's frontends know a namespace that was
// registered just now, as where an installation is brought up at once, and its search
// attributes: they look every 10 seconds.
const namespaceKnown = 15 * time.Second

// whileNew asks until what was registered just now is known, or could be.
func whileNew[T any](ctx context.Context, unknown func(error) bool, ask func() (T, error)) (T, error) {
	for began := time.Now(); ; {
		reply, err := ask()
		if err == nil || !unknown(err) || time.Since(began) > namespaceKnown || pauseFor(ctx, time.Second/2) != nil {
			return reply, err
		}
	}
}

func namespaceUnknown(err error) bool {
	_, unknown := errors.AsType[*serviceerror.NamespaceNotFound](err)
	return unknown
}

// attributesUnknown says that a frontend does not know search attributes that a run was to
// start with.
func attributesUnknown(err error) bool {
	wrong, ok := errors.AsType[*serviceerror.InvalidArgument](err)
	return ok && strings.Contains(wrong.Message, "has no mapping defined for search attribute")
}
