package devserver

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
)

const (
	defaultAddress   = "127.0.0.1"
	defaultNamespace = "default"
	maxPort          = 65535

	// NoUI as Config.UIPort starts the server without its Web UI.
	NoUI = -1
)

// Config says where a Server listens and what it keeps. The zero value is a
// server in memory on free ports of the loopback interface, with its Web UI.
type Config struct {
	// DataDir holds the database, temporal.db; it is created if missing. One
	// running server owns a directory, a second Start on it is refused. Empty
	// means in memory: everything is gone with Stop.
	DataDir string

	// Postgres, if there is one, keeps everything instead, as in production; DataDir
	// is empty then. One running server owns its databases, a second Start on them is
	// refused.
	Postgres *Postgres

	// Address is the IP the frontend and the Web UI listen on, default 127.0.0.1.
	// There is no authentication: any other address offers the server to whoever
	// reaches it. Internal services always listen on the loopback interface.
	Address string

	// Port of the frontend (gRPC), 0..65535; 0 takes any free one.
	Port int

	// UIPort of the Web UI (HTTP), 0..65535 or NoUI; 0 takes any free one.
	UIPort int

	// Namespaces that exist once Start returns, default just "default". New ones
	// keep finished workflows for 24 hours; existing ones keep their retention.
	Namespaces []string

	// SearchAttributes that are usable in each of Namespaces once Start returns,
	// by name; also where the database existed already. A name that stands there
	// with another type is an error. Temporal has room for 10 Keyword and 3 of
	// each other type.
	SearchAttributes map[string]enumspb.IndexedValueType

	// DynamicConfig overrides Temporal's dynamic configuration, by its keys
	// ("frontend.namespaceRPS"). A value of a wrong type is logged and ignored.
	DynamicConfig map[string]any

	// Logger gets the server's warnings and errors, default slog.Default(); what
	// the server reports at its lower levels arrives as Debug.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Address = cmp.Or(c.Address, defaultAddress)
	if len(c.Namespaces) == 0 {
		c.Namespaces = []string{defaultNamespace}
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Postgres != nil {
		p := c.Postgres.withDefaults()
		c.Postgres = &p
	}
	return c
}

func (c Config) validate() error {
	if _, err := netip.ParseAddr(c.Address); err != nil {
		return fmt.Errorf("devserver: Address must be an IP address, %q is not", c.Address)
	}
	if c.Port < 0 || c.Port > maxPort {
		return fmt.Errorf("devserver: Port must be 0..%d, is %d", maxPort, c.Port)
	}
	if c.UIPort < NoUI || c.UIPort > maxPort {
		return fmt.Errorf("devserver: UIPort must be 0..%d or %d for no UI, is %d", maxPort, NoUI, c.UIPort)
	}
	if c.Port != 0 && c.Port == c.UIPort {
		return fmt.Errorf("devserver: Port and UIPort must differ, both are %d", c.Port)
	}
	if slices.Contains(c.Namespaces, "") {
		return errors.New("devserver: Namespaces must not hold an empty name")
	}
	if c.Postgres != nil {
		if c.DataDir != "" {
			return errors.New("devserver: Postgres and DataDir exclude each other")
		}
		if err := c.Postgres.validate(); err != nil {
			return err
		}
	}
	for name, kind := range c.SearchAttributes {
		if name == "" || strings.TrimSpace(name) != name {
			return fmt.Errorf("devserver: SearchAttributes holds the unusable name %q", name)
		}
		if kind == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return fmt.Errorf("devserver: SearchAttributes must give %s a type", name)
		}
	}
	return nil
}

// dialIP is where this process reaches what listens on Address: a wildcard
// address can be listened on but not dialled.
func (c Config) dialIP() string {
	switch addr := netip.MustParseAddr(c.Address); {
	case !addr.IsUnspecified():
		return c.Address
	case addr.Is4():
		return defaultAddress
	default:
		return netip.IPv6Loopback().String()
	}
}
