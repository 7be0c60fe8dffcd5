package devserver

import (
	"context"
	"fmt"
	"io"
	"net/http"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// webUI is Temporal's Web UI.
type webUI struct {
	server  *uiserver.Server
	stopped chan struct{}
}

// startUI starts the Web UI and waits until it answers.
func startUI(ctx context.Context, cfg Config, p ports) (*webUI, error) {
	host := cfg.Address
	if isIPv6(host) {
		// The UI glues host and port together with a colon.
		host = "[" + host + "]"
	}
	ui := &webUI{
		stopped: make(chan struct{}),
		server: uiserver.NewServer(uioptions.WithConfigProvider(&uiconfig.Config{
			Host:                host,
			Port:                p.ui,
			TemporalGRPCAddress: hostPort(cfg.dialIP(), p.frontend),
			EnableUI:            true,
			DefaultNamespace:    cfg.Namespaces[0],
			DisableNewsFetch:    true,
			HideLogs:            true,
			// Served without TLS, the browser would drop a secure cookie.
			CORS: uiconfig.CORS{CookieInsecure: true},
		})),
	}
	go func() {
		defer close(ui.stopped)
		if err := ui.server.Start(); err != nil {
			cfg.Logger.Error("temporal's web UI ended", "error", err)
		}
	}()
	err := until(ctx, func(ctx context.Context) error {
		return answersHTTP(ctx, "http://"+hostPort(cfg.dialIP(), p.ui)+"/healthz")
	})
	if err != nil {
		ui.stop()
		return nil, fmt.Errorf("devserver: the web UI does not answer: %w", err)
	}
	return ui, nil
}

func (u *webUI) stop() {
	u.server.Stop()
	<-u.stopped
}

func answersHTTP(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return nil
}
