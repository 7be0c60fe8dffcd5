package cli

import (
	"fmt"
	"slices"
	"strings"
)

// outputFormat is the value of --output.
type outputFormat string

const (
	outputTable outputFormat = "table"
	outputJSON  outputFormat = "json"
	outputYAML  outputFormat = "yaml"
)

var outputFormats = []string{string(outputTable), string(outputJSON), string(outputYAML)}

// String is the flag's value (pflag.Value).
func (f *outputFormat) String() string { return string(*f) }

// Type is what help shows for the value (pflag.Value).
func (f *outputFormat) Type() string { return "FORMAT" }

// Set refuses anything but the known formats (pflag.Value).
func (f *outputFormat) Set(value string) error {
	if !slices.Contains(outputFormats, value) {
		return fmt.Errorf("must be one of %s", strings.Join(outputFormats, ", "))
	}
	*f = outputFormat(value)
	return nil
}
