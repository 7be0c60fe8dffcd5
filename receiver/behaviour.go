package receiver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what a request will get.
type answer struct {
	status int
	text   string
	// wait is how long it takes first.
	wait time.Duration
	// block makes it wait for Release.
	block bool
	// big is the length of the body instead of text, if above 0.
	big int64
}

// behave decides by the path. The statuses and times that can be asked for are in
// the package's documentation. Before is how often the same was asked before.
func behave(a Arrival, before func() int) answer {
	name, rest, _ := strings.Cut(strings.TrimPrefix(a.Path, "/"), "/")
	value, _, _ := strings.Cut(rest, "/")
	switch name {
	case "status":
		// 1xx are no final answers, so net/http would not end the request by one.
		status, err := strconv.Atoi(value)
		if err != nil || status < 200 || status > 599 {
			return refuse("/status/N takes a status from 200 to 599")
		}
		return answer{status: status, text: statusText(status)}
	case "fail-first":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return refuse("/fail-first/N takes how many attempts fail")
		}
		// Without the header it was no retry that anybody counted.
		if attempt := cmp.Or(a.Attempt, 1); uint64(attempt) <= n {
			return answer{status: http.StatusServiceUnavailable, text: fmt.Sprintf("attempt %d of %d that fail\n", attempt, n)}
		}
		return received()
	case "slow":
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return refuse("/slow/D takes a time such as 5s or 300ms")
		}
		return answer{status: http.StatusOK, text: "received, slowly\n", wait: d}
	case "block":
		return answer{status: http.StatusOK, text: "released\n", block: true}
	case "big":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return refuse("/big/N takes a number of bytes")
		}
		return answer{status: http.StatusOK, big: n}
	case "judge":
		return judge(strings.Split(rest, "/"), before)
	default:
		return received()
	}
}

// judge answers as a validate_url of http_change does. Asked is what follows /judge: how
// bad the problem is that it finds, the problem, and which time it finds it, if only once.
func judge(asked []string, before func() int) answer {
	found := map[string][]string{"hard": {}, "soft": {}}
	severity := asked[0]
	switch {
	case severity == "":
	case found[severity] == nil || len(asked) < 2 || asked[1] == "":
		return refuse("/judge/hard/X and /judge/soft/X take a problem")
	case len(asked) > 2 && asked[2] == "only":
		n, err := strconv.Atoi(strings.Join(asked[3:], "/"))
		if err != nil || n < 1 {
			return refuse("/judge/hard/X/only/N takes which question finds the problem, from 1")
		}
		if before()+1 != n {
			break
		}
		found[severity] = append(found[severity], asked[1])
	default:
		found[severity] = append(found[severity], asked[1])
	}
	text, err := json.Marshal(found)
	if err != nil {
		return refuse("the problem cannot be said in JSON")
	}
	return answer{status: http.StatusOK, text: string(text) + "\n"}
}

func received() answer { return answer{status: http.StatusOK, text: "received\n"} }

func refuse(rule string) answer {
	return answer{status: http.StatusBadRequest, text: rule + "\n"}
}

// write sends the answer. Errors mean that the client left.
func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if a.big > 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(a.big, 10))
		w.WriteHeader(a.status)
		_, _ = io.CopyN(w, letters{}, a.big)
		return
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.text)
}

// letters is an endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
