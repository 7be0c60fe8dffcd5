package httpchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	"golang.org/x/sync/errgroup"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/changes"
	"gnomon/outbound"
)

// Codes of problems. A service may give codes of its own. They are part of the public
// contract.
const (
	// CodeRefusedByService: the service finds something wrong and gives no code of its
	// own. Hard or soft, as the service says.
	CodeRefusedByService = "REFUSED_BY_SERVICE"
	// CodeCannotValidate: the service refused the question itself, by a status such as
	// 404. Hard.
	CodeCannotValidate = "CANNOT_VALIDATE"
)

const (
	// maxAsked is how many changes of one batch are asked about at once.
	maxAsked = 8
	// maxAnswer is how long an answer of validate_url may be, in bytes.
	maxAnswer = 32 << 10
	// maxProblems is how many problems a service may find in one change.
	maxProblems = 100
	// maxMessage is of the message of a problem, in bytes.
	maxMessage = 1 << 10
)

// code is what a service's own codes look like.
var code = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}$`)

// Validate implements changes.Kind: each change is asked about by a POST to its
// validate_url, if it has one. Those in doubt are not, since a service cannot tell what
// the change itself has done.
func (k *Kind) Validate(ctx context.Context, of changes.Batch, all []changes.Subject) ([]*gnomonv1.Problem, error) {
	found := make([][]*gnomonv1.Problem, len(all))
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(maxAsked)
	for i, s := range all {
		if s.InDoubt || s.Change.GetHttpChange().GetValidateUrl() == "" {
			continue
		}
		g.Go(func() error {
			var err error
			found[i], err = k.ask(inner, of, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var problems []*gnomonv1.Problem
	for _, some := range found {
		problems = append(problems, some...)
	}
	return problems, nil
}

// ask asks about one change.
func (k *Kind) ask(ctx context.Context, of changes.Batch, s changes.Subject) ([]*gnomonv1.Problem, error) {
	r, err := k.post(ctx, s.Change.GetHttpChange().GetValidateUrl(), of, s, maxAnswer, nil)
	switch {
	case err != nil:
		return nil, err
	case refused(r.Status):
		return []*gnomonv1.Problem{changes.Hard(s.Index, CodeCannotValidate, "http_change.validate_url",
			"%s", outbound.Shorten(unanswered(r).Error(), maxMessage))}, nil
	case r.Status != http.StatusOK:
		return nil, unanswered(r)
	case r.Broken != nil:
		return nil, r.Broken
	case r.More:
		return nil, fmt.Errorf("%s answered with more than %d bytes", r.Place, maxAnswer)
	}
	var a answer
	if err := json.Unmarshal(r.Body, &a); err != nil || a.Hard == nil && a.Soft == nil {
		// The error would quote the answer.
		return nil, fmt.Errorf(`%s did not answer with {"hard": [...], "soft": [...]}`, r.Place)
	}
	if len(a.Hard)+len(a.Soft) > maxProblems {
		return nil, fmt.Errorf("%s answered with more than %d problems", r.Place, maxProblems)
	}
	var found []*gnomonv1.Problem
	for _, one := range a.Hard {
		found = append(found, changes.Hard(s.Index, one.code(), "http_change", "%s", one.message()))
	}
	for _, one := range a.Soft {
		found = append(found, changes.Soft(s.Index, one.code(), "http_change", "%s", one.message()))
	}
	return found, nil
}

// answer is what validate_url answers. At least one of the lists is there.
type answer struct {
	Hard []problem `json:"hard"`
	Soft []problem `json:"soft"`
}

// problem is a text or an object.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// UnmarshalJSON reads both forms.
func (p *problem) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &p.Message)
	}
	type object problem
	return json.Unmarshal(text, (*object)(p))
}

// code is the service's, where it is one.
func (p *problem) code() string {
	if code.MatchString(p.Code) {
		return p.Code
	}
	return CodeRefusedByService
}

// message is never empty.
func (p *problem) message() string {
	return outbound.Shorten(cmp.Or(plain(p.Message), "the service says no more"), maxMessage)
}
