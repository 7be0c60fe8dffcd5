package contenders

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// poster sends the payload of jobs.
type poster struct{ client *http.Client }

// newPoster keeps as many connections as gnomon's performer does.
func newPoster() *poster {
	transport := &http.Transport{MaxIdleConns: 1000, MaxIdleConnsPerHost: 100, IdleConnTimeout: 90 * time.Second}
	return &poster{&http.Client{Transport: transport, Timeout: 30 * time.Second}}
}

// Post is the activity of a1, a2 and TS and the work of RV.
func (p *poster) Post(ctx context.Context, in Input) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, in.URL, bytes.NewReader(in.Body))
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %d", in.URL, resp.StatusCode)
	}
	return nil
}
