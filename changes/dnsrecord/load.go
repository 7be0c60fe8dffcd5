package dnsrecord

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"gnomon/secrets"
)

// file is the configuration as people write it.
type file struct {
	Zones []struct {
		Name   string `yaml:"name"`
		Server string `yaml:"server"`
		Key    *struct {
			Name      string         `yaml:"name"`
			Algorithm string         `yaml:"algorithm"`
			Secret    secrets.Source `yaml:"secret"`
		} `yaml:"key"`
		TTL struct {
			Min     uint32 `yaml:"min"`
			Max     uint32 `yaml:"max"`
			Default uint32 `yaml:"default"`
		} `yaml:"ttl"`
		HighValue  []string `yaml:"high_value"`
		OwnerLabel string   `yaml:"owner_label"`
		Timeout    string   `yaml:"timeout"`
		ClockSkew  string   `yaml:"clock_skew"`
	} `yaml:"zones"`
}

// Load reads zones from a YAML file; see docs/batches.md for its fields. Unknown fields
// are errors. Secrets are read from the files and environment variables that it names,
// once. An error names the zone and the field, never a secret.
func Load(name string) (Config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return Config{}, fmt.Errorf("DNS zones: %w", err)
	}
	var f file
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.DisallowUnknownField()); err != nil {
		// Without the lines around the mistake.
		return Config{}, fmt.Errorf("DNS zones: %s: %s", name, yaml.FormatError(err, false, false))
	}
	var c Config
	var bad []error
	for _, one := range f.Zones {
		z := Zone{
			Name: one.Name, Server: one.Server, TTL: TTLRange(one.TTL),
			HighValue: one.HighValue, OwnerLabel: one.OwnerLabel,
		}
		var errs [3]error
		z.Timeout, errs[0] = duration(one.Timeout, "timeout")
		z.ClockSkew, errs[1] = duration(one.ClockSkew, "clock_skew")
		if k := one.Key; k != nil {
			z.Key = Key{Name: k.Name, Algorithm: cmp.Or(k.Algorithm, algorithms[0])}
			if z.Key.Secret, errs[2] = k.Secret.Read(); errs[2] != nil {
				errs[2] = fmt.Errorf("key.secret: %w", errs[2])
			}
		}
		if err := errors.Join(errs[:]...); err != nil {
			bad = append(bad, fmt.Errorf("zone %q: %w", one.Name, err))
		}
		c.Zones = append(c.Zones, z)
	}
	if err := errors.Join(bad...); err != nil {
		return Config{}, fmt.Errorf("DNS zones: %s: %w", name, err)
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("DNS zones: %s: %w", name, err)
	}
	return c, nil
}

func duration(text, field string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a duration such as 5s", field, text)
	}
	return d, nil
}
