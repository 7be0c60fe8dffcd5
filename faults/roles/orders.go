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
	// YDB replaces what is wrong with the YDB that it is.
	YDB *Outage `json:"ydb,omitempty"`
	// Die makes it die between the commit of the next call of Temporal of this name,
	// such as StartWorkflowExecution, and its reply.
	Die string `json:"die,omitempty"`
}

// Answer is how the line begins that says that it was carried out.
func (o Order) Answer() string { return fmt.Sprintf("order %d done", o.Number) }

// obey carries out the orders on in until it ends. An order that fails is not answered.
func obey(in io.Reader, out io.Writer, carryOut func(Order) (note string, err error)) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil { //nolint:musttag // both ends are this program
			fmt.Fprintln(os.Stderr, "an order cannot be read:", err)
			continue
		}
		note, err := carryOut(o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "order %d cannot be carried out: %v\n", o.Number, err)
			continue
		}
		fmt.Fprintln(out, o.Answer()+note)
	}
}

// inside are the faults of a facade or a worker.
type inside struct {
	rows *faulty.Store
	die  failpoint
}

// carryOut carries out an order.
func (i *inside) carryOut(o Order) (string, error) {
	if o.Store != nil {
		i.rows.Set(*o.Store)
	}
	if o.Die != "" {
		i.die.arm(o.Die)
	}
	return "", nil
}
