package roles

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"gnomon/store/faulty"
)

// Order is a line of JSON on the stdin of a process with faults inside. It answers
// each with the line of [Order.Answer].
type Order struct {
	// Number tells the answers of one process apart.
	Number int `json:"number"`
	// Store replaces the faults of its store.
	Store *faulty.Faults `json:"store,omitempty"`
	// Die makes it die between the commit of the next call of Temporal of this name,
	// such as StartWorkflowExecution, and its reply.
	Die string `json:"die,omitempty"`
}

// Answer is the line that says that it was carried out.
func (o Order) Answer() string { return fmt.Sprintf("order %d done", o.Number) }

// obey carries out the orders on in until it ends.
func obey(in io.Reader, out io.Writer, rows *faulty.Store, die *failpoint) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil { //nolint:musttag // both ends are this program
			fmt.Fprintln(os.Stderr, "an order cannot be read:", err)
			continue
		}
		if o.Store != nil {
			rows.Set(*o.Store)
		}
		if o.Die != "" {
			die.arm(o.Die)
		}
		fmt.Fprintln(out, o.Answer())
	}
}
