package receiver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gnomon/receiver"
)

// A receiver shows what reaches it and lets a test wait for it.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := receiver.Start(ctx, receiver.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.URL("/fail-first/1/hello"), strings.NewReader(`{"hello":"world"}`))
	req.Header.Set("Gnomon-Action-Id", "hello")
	req.Header.Set("Gnomon-Attempt", "1")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()

	a, err := r.Wait(ctx, func(a receiver.Arrival) bool { return a.ActionID == "hello" })
	fmt.Println(a.Number, a.Method, a.Path, a.Attempt, a.Status, string(a.Body), err)
	// Output: 1 POST /fail-first/1/hello 1 503 {"hello":"world"} <nil>
}
