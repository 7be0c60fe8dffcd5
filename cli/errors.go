package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// usageError is a command that was typed wrongly: exit code 2.
type usageError struct{ err error }

func usageErrorf(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Error is the sentence that names the flag or argument and the rule.
func (e usageError) Error() string { return e.err.Error() }

// Unwrap is what the sentence was made from.
func (e usageError) Unwrap() error { return e.err }

// subjectError is a failure that concerns one of several things.
type subjectError struct {
	subject string
	err     error
}

// Error names the subject first.
func (e subjectError) Error() string { return e.subject + ": " + e.err.Error() }

// Unwrap is the failure itself.
func (e subjectError) Unwrap() error { return e.err }

// shownError is a failure of which each part has been shown already; only the
// exit code and the summary are left.
type shownError struct{ summary string }

// Error is the summary.
func (e shownError) Error() string { return e.summary }

// errorReport writes errors for people, or as google.rpc.Status in JSON.
type errorReport struct {
	out     io.Writer
	format  outputFormat
	address string
	// noun is what the command was about: action, batch, node, playbook or entity.
	noun string
}

func (r errorReport) write(err error) {
	if r.format == outputJSON {
		r.writeJSON(err)
		return
	}
	if !r.writeProblems(statusOf(err)) {
		for _, line := range errorLines(err) {
			fmt.Fprintln(r.out, "error: "+visible(line))
		}
	}
	if hint := r.hint(err); hint != "" {
		fmt.Fprintln(r.out, "hint: "+hint)
	}
}

// writeJSON writes one line: the google.rpc.Status that the server sent, or one
// made for what went wrong on this side; "subject" is added where the error is
// one of several.
func (r errorReport) writeJSON(err error) {
	line, encodeErr := encodeLine(statusOf(err).Proto())
	if encodeErr != nil {
		// Details of a kind that is not known here cannot be written.
		line, encodeErr = encodeLine(status.New(statusOf(err).Code(), err.Error()).Proto())
	}
	if encodeErr != nil {
		fmt.Fprintln(r.out, "error: "+visible(err.Error()))
		return
	}
	if subject, ok := errors.AsType[subjectError](err); ok {
		if name, err := json.Marshal(subject.subject); err == nil {
			line = append([]byte(`{"subject":`+string(name)+`,`), line[1:]...)
		}
	}
	fmt.Fprintln(r.out, string(line))
}

// statusOf is the server's status without the words that were put around it here.
func statusOf(err error) *status.Status {
	var remote interface{ GRPCStatus() *status.Status }
	if errors.As(err, &remote) {
		return remote.GRPCStatus()
	}
	var usage usageError
	var outcome outcomeError
	switch {
	case errors.As(err, &usage):
		return status.New(codes.InvalidArgument, err.Error())
	case errors.As(err, &outcome):
		return status.New(codes.FailedPrecondition, err.Error())
	case errors.Is(err, context.Canceled):
		return status.New(codes.Canceled, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.New(codes.DeadlineExceeded, err.Error())
	default:
		return status.New(codes.Unknown, err.Error())
	}
}

// errorLines is one line for each field violation, or one line in all.
func errorLines(err error) []string {
	var remote interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &remote) {
		return []string{err.Error()}
	}
	st := remote.GRPCStatus()
	prefix := ""
	if subject, ok := errors.AsType[subjectError](err); ok {
		prefix = subject.subject + ": "
	}
	prefix += code.Code(st.Code()).String() + ": "

	var lines []string
	reason := ""
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				lines = append(lines, prefix+joinNonEmpty(": ", v.GetField(), v.GetDescription()))
			}
		case *errdetails.ErrorInfo:
			reason = d.GetReason()
		}
	}
	if len(lines) > 0 {
		return lines
	}
	line := prefix + st.Message()
	if reason != "" {
		line += " (" + reason + ")"
	}
	return []string{line}
}

func (r errorReport) hint(err error) string {
	var remote interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &remote) {
		return ""
	}
	switch remote.GRPCStatus().Code() {
	case codes.Unavailable:
		if fromGnomon(remote.GRPCStatus()) {
			return "" // it serves, and has said what behind it does not
		}
		return fmt.Sprintf("is gnomon serving at %s? Start it with 'go run ./cmd/gnomon-dev', or name its address with --address or GNOMON_ADDRESS", r.address)
	case codes.DeadlineExceeded:
		return fmt.Sprintf("%s did not answer in time; --timeout gives it more", r.address)
	case codes.Aborted:
		return fmt.Sprintf("the %[1]s has changed meanwhile; look at it with 'gnomon %[1]s get' and try again", r.noun)
	default:
		return ""
	}
}

// fromGnomon says whether the service itself made the error, and not gRPC on the way
// to it.
func fromGnomon(s *status.Status) bool {
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "gnomon" {
			return true
		}
	}
	return false
}

func joinNonEmpty(separator string, parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, separator)
}
