package starter

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/protoadapt"

	gnomonv1 "gnomon/api/gnomon/v1"
	"gnomon/batch"
	"gnomon/outbound"
	"gnomon/rule"
)

// Reasons of errors about batches.
const (
	reasonBatchNotFound      = "BATCH_NOT_FOUND"
	reasonBatchAlreadyExists = "BATCH_ALREADY_EXISTS"
	reasonBatchState         = "BATCH_STATE"
	reasonUnvalidated        = "VALIDATION_UNAVAILABLE"
	reasonMaybeAccepted      = "BATCH_MAY_BE_ACCEPTED"
)

// batchNotFound says that no batch of this id was ever accepted.
func batchNotFound(id string) error {
	return refuse(codes.NotFound, reasonBatchNotFound,
		fmt.Sprintf("no batch %q", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchAlreadyExists says that the id is taken, for good.
func batchAlreadyExists(id string) error {
	return refuse(codes.AlreadyExists, reasonBatchAlreadyExists,
		fmt.Sprintf("there is a batch %q already; ids of batches are not used again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchEtagMismatch says that the batch changed since the caller read it (AIP-154).
func batchEtagMismatch(id string) error {
	return refuse(codes.Aborted, reasonEtagMismatch,
		fmt.Sprintf("batch %q has changed since its etag was read; read it again", clip(id, maxMetadataValue)), map[string]string{"id": id})
}

// batchState says that the batch's state does not allow the call (V-18, V-20).
func batchState(id, state string) error {
	return refuse(codes.FailedPrecondition, reasonBatchState,
		fmt.Sprintf("this call is refused while batch %q is %s", clip(id, maxMetadataValue), state),
		map[string]string{"id": id, "state": state},
		&errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{{
			Type: reasonBatchState, Subject: id, Description: "the batch's state is " + state,
		}}})
}

// refusedForProblems is the refusal of a batch for what stands against it, hard and soft,
// of all its changes (V-03), and for what is wrong with the request around it.
func refusedForProblems(problems []*gnomonv1.Problem, request ...rule.Violation) error {
	bad := &errdetails.BadRequest{}
	for _, v := range request {
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field: v.Field, Description: v.Description, Reason: v.Rule,
		})
	}
	kept := problems[:min(len(problems), batch.MaxProblems)]
	for _, p := range kept {
		bad.FieldViolations = append(bad.FieldViolations, violationOf(p))
	}
	count := len(request) + len(problems)
	var sentences []string
	for _, v := range bad.GetFieldViolations()[:min(count, maxMessageViolations)] {
		sentences = append(sentences, sentence(v.GetField(), v.GetDescription()))
	}
	message := strings.Join(sentences, "; ")
	if more := count - maxMessageViolations; more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	// Problems come from other services: what they say is bounded.
	message = outbound.Shorten(message, maxProblemMessage)
	first := bad.GetFieldViolations()[0]
	return refuse(codes.InvalidArgument, first.GetReason(), message, map[string]string{
		"field":    first.GetField(),
		"problems": strconv.Itoa(count),
	}, protoadapt.MessageV1Of(&gnomonv1.BatchProblems{Problems: kept}), bad)
}

// violationOf is a problem as one of a field of the request.
func violationOf(p *gnomonv1.Problem) *errdetails.BadRequest_FieldViolation {
	field := "batch"
	if p.ChangeIndex != nil {
		field = joinPath(field, batch.ChangePath(int(p.GetChangeIndex())))
	}
	description := p.GetMessage()
	if p.GetSeverity() == gnomonv1.Problem_SOFT {
		description = "soft problem: " + description
	}
	return &errdetails.BadRequest_FieldViolation{Field: joinPath(field, p.GetField()), Reason: p.GetCode(), Description: description}
}

// maxProblemMessage is in bytes. Details have all that is said.
const maxProblemMessage = 4 << 10
