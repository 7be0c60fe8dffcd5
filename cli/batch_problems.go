package cli

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// problemTable has a row for each problem. Its lines are not cut: a message that ends at
// the edge of a window would have to be asked for again.
func problemTable(s style, problems []*gnomonv1.Problem) string {
	rows := make([][]string, len(problems))
	for i, p := range problems {
		index := "-"
		if p.ChangeIndex != nil {
			index = strconv.Itoa(int(p.GetChangeIndex()))
		}
		rows[i] = []string{index, p.GetSeverity().String(), visible(p.GetCode()), visible(p.GetField()), visible(p.GetMessage())}
	}
	return renderTable(s, 0, []string{"CHANGE", "KIND", "CODE", "FIELD", "MESSAGE"}, rows)
}

// batchProblems are the problems that refuse a batch, by the details of the refusal, and
// how many there were. What is wrong with the request around the batch is not among them.
func batchProblems(st *status.Status) (problems []*gnomonv1.Problem, total int) {
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *gnomonv1.BatchProblems:
			problems = d.GetProblems()
		case *errdetails.ErrorInfo:
			total, _ = strconv.Atoi(d.GetMetadata()["problems"])
		}
	}
	return problems, max(total, len(problems))
}

// writeProblems writes the refusal of a batch for people; false: st is none.
func (r errorReport) writeProblems(st *status.Status) bool {
	problems, total := batchProblems(st)
	if len(problems) == 0 {
		return false
	}
	fmt.Fprintf(r.out, "error: the batch is refused and nothing was stored, %s:\n", counted(total, "problem"))
	fmt.Fprintln(r.out, problemTable(newStyle(false), problems))
	if more := total - len(problems); more > 0 {
		fmt.Fprintf(r.out, "note: %d more are not shown\n", more)
	}
	for _, detail := range st.Details() {
		// What is wrong with the request itself is no problem of the batch.
		bad, _ := detail.(*errdetails.BadRequest)
		for _, v := range bad.GetFieldViolations() {
			if !strings.HasPrefix(v.GetField(), "batch") {
				fmt.Fprintln(r.out, "error: "+visible(v.GetField()+": "+v.GetDescription()))
			}
		}
	}
	return true
}

// counted is "1 problem" or "2 problems".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
