package receiver

import (
	"cmp"
	"errors"
	"io"
	"time"
)

// Config is what [Start] needs. A field that is zero means its default.
type Config struct {
	// Address is the host:port to listen at; port 0 picks a free one. Default
	// 127.0.0.1:0.
	Address string
	// Out gets one line for people for every arrival, see [Arrival.Line]. It shows
	// the start of the body. Default: none.
	Out io.Writer
	// Record gets one line of JSON for every arrival, see [Arrival]; each line is
	// one Write, followed by Flush where Record has that method. It holds no body.
	// Default: none.
	Record io.Writer
	// RecordPath is a file to append those lines to instead; it is made if it is
	// not there. Not together with Record.
	RecordPath string
	// Keep is how many arrivals are remembered for [Receiver.Arrivals] and
	// [Receiver.Wait]; the oldest go first. Default 10,000.
	Keep int
	// Location is the time zone of the lines for people. Default: the local one.
	Location *time.Location
}

func (c Config) withDefaults() Config {
	c.Address = cmp.Or(c.Address, "127.0.0.1:0")
	c.Keep = cmp.Or(c.Keep, 10_000)
	c.Location = cmp.Or(c.Location, time.Local) //nolint:gosmopolitan // read beside the clock on the wall
	return c
}

// Validate checks c; its error has one line for each rule that is broken.
func (c Config) Validate() error {
	var errs []error
	if c.Record != nil && c.RecordPath != "" {
		errs = append(errs, errors.New("Config.Record and Config.RecordPath must not be set both"))
	}
	if c.Keep < 0 {
		errs = append(errs, errors.New("Config.Keep must not be negative"))
	}
	return errors.Join(errs...)
}
