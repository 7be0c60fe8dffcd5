package roles

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gnomon/faults/record"
	"gnomon/receiver"
)

// receive is the receiver with a door before it, which records when each request
// ended: an attempt that overlaps another shows only there. It prints its address.
func receive() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			visits, err := record.OpenLog(dir, record.VisitsFile)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, visits.Close()) }()
			inner, err := receiver.Start(cmd.Context(), receiver.Config{
				RecordPath: filepath.Join(dir, record.ArrivalsFile), Keep: 1,
			})
			if err != nil {
				return err
			}
			defer inner.Close()
			var listen net.ListenConfig
			l, err := listen.Listen(cmd.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), l.Addr())
			server := &http.Server{Handler: newDoor(inner.URL(""), visits), ReadHeaderTimeout: 10 * time.Second}
			go func() {
				<-cmd.Context().Done()
				end, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), time.Second)
				defer cancel()
				_ = server.Shutdown(end) // what hangs then is cut off with the process
			}()
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "where the records go")
	return cmd
}

// newDoor passes requests on and records each when it has ended.
func newDoor(to string, visits *record.Log) http.Handler {
	target, err := url.Parse(to)
	if err != nil {
		panic(err) // our own address
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, _ error) {
			panic(http.ErrAbortHandler) // the client left, or we stop: no answer
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visit(r)
		answer := &answered{ResponseWriter: w}
		defer func() {
			v.Ended, v.Status = time.Now().UTC(), answer.status
			visits.Add(v)
		}()
		proxy.ServeHTTP(answer, r)
	})
}

func visit(r *http.Request) record.Visit {
	v := record.Visit{
		Began: time.Now().UTC(),
		ID:    r.Header.Get("Gnomon-Action-Id"), GUID: r.Header.Get("Gnomon-Action-Guid"),
		Key: r.Header.Get("Idempotency-Key"),
	}
	// What cannot be read stays zero and is a broken promise to the judge.
	v.Occurrence, _ = time.Parse(time.RFC3339Nano, r.Header.Get("Gnomon-Scheduled-At"))
	n, _ := strconv.ParseUint(r.Header.Get("Gnomon-Attempt"), 10, 32)
	v.Attempt = uint32(n)
	return v
}

// answered remembers the status.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}
