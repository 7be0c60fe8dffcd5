package performers

import (
	"errors"
	"fmt"
	"io"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// Names of the oneof's cases, by which performers are registered.
const (
	kindMock = "mock_action"
	kindHTTP = "http_request"
	kindPush = "send_technical_push"
)

// Set has the performers of one process by the name of their case in the oneof
// gnomon.v1.Action, such as "http_request" (M-02). Performers may be called
// concurrently; they share connections, so one Set serves a whole process.
type Set map[string]Performer

// New makes the performers that c asks for. Nothing is dialled yet. Fields of c
// that are zero take their value from [Default]; the error is that of
// [Config.Validate], or says which TLS file cannot be used.
func New(c Config) (Set, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	push, err := newPush(c.Notificator)
	if err != nil {
		return nil, err
	}
	s := Set{
		kindHTTP: newHTTP(c.HTTP),
		kindPush: push,
	}
	if c.AllowMock { // M-03
		s[kindMock] = mock{}
	}
	return s, nil
}

// For finds the performer of an action. Where there is none the error is
// [Permanent]: no case is set, the action was made for a newer gnomon than this
// one, or it is a mock_action and those are not allowed (M-02, M-03).
func (s Set) For(a *gnomonv1.Action) (Performer, error) {
	kind := kindOf(a)
	if p, ok := s[kind]; ok {
		return p, nil
	}
	switch kind {
	case "":
		return nil, Permanent(errors.New("action: no case is set that this worker knows"))
	case kindMock:
		return nil, Permanent(errors.New("action.mock_action: mock actions are not allowed in this installation"))
	default:
		return nil, Permanent(fmt.Errorf("action.%s: this worker has no performer for it", kind))
	}
}

// Close gives up the connections that the performers keep. Calls that still run
// may fail. The Set must not be used afterwards.
func (s Set) Close() error {
	var errs []error
	for _, p := range s {
		if c, ok := p.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// kindOf names the case that is set, "" if none is.
func kindOf(a *gnomonv1.Action) string {
	m := a.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("action")); f != nil {
		return string(f.Name())
	}
	return ""
}

// misdirected is the error of a performer that was given another's action.
func misdirected(kind string) error {
	return Permanent(fmt.Errorf("action.%s: not set", kind))
}
