package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// httpFlags make an HttpRequest.
type httpFlags struct {
	url, method    string
	headers        []string
	body, bodyFile string
	accept         []string
	giveUp         bool
}

var httpFlagNames = []string{"url", "method", "header", "body", "body-file", "accept", "give-up-on-client-error"}

func (f *httpFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "send an HTTP request to this URL")
	flags.StringVar(&f.method, "method", "", "its method (default POST)")
	flags.StringArrayVar(&f.headers, "header", nil, "its header KEY=VALUE, or KEY- to remove one (repeatable)")
	flags.StringVar(&f.body, "body", "", "its body, as it is")
	flags.StringVar(&f.bodyFile, "body-file", "", "its body from a file, '-' for stdin")
	flags.StringSliceVar(&f.accept, "accept", nil, "status codes that are a success, such as 200-299,304 (default 200-299)")
	flags.BoolVar(&f.giveUp, "give-up-on-client-error", false, "do not retry after a status 4xx other than 408 and 429")
	mustComplete(cmd.RegisterFlagCompletionFunc("method", cobra.FixedCompletions(
		[]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, cobra.ShellCompDirectiveNoFileComp)))
}

func (f *httpFlags) apply(cmd *cobra.Command, action *gnomonv1.Action) error {
	if err := exclusive(cmd, "body", "body-file"); err != nil {
		return err
	}
	flags := cmd.Flags()
	request := action.GetHttpRequest()
	if request == nil {
		if !flags.Changed("url") {
			return usageErrorf("the flags of an HTTP request need --url")
		}
		request = &gnomonv1.HttpRequest{}
		action.Action = &gnomonv1.Action_HttpRequest{HttpRequest: request}
	}
	if flags.Changed("url") {
		request.Url = f.url
	}
	if flags.Changed("method") {
		request.Method = strings.ToUpper(f.method)
	}
	if flags.Changed("give-up-on-client-error") {
		request.GiveUpOnClientError = f.giveUp
	}
	if flags.Changed("accept") {
		ranges, err := parseStatusRanges(f.accept)
		if err != nil {
			return err
		}
		request.AcceptedStatus = ranges
	}
	headers, err := changePairs("header", request.GetHeaders(), f.headers)
	if err != nil {
		return err
	}
	request.Headers = headers
	switch {
	case flags.Changed("body"):
		request.Body = []byte(f.body)
	case flags.Changed("body-file"):
		body, err := readFileOrStdin(cmd, f.bodyFile)
		if err != nil {
			return fmt.Errorf("--body-file: %w", err)
		}
		request.Body = body
	}
	return nil
}

func parseStatusRanges(values []string) ([]*gnomonv1.HttpRequest_StatusRange, error) {
	var ranges []*gnomonv1.HttpRequest_StatusRange
	for _, value := range values {
		from, to, isRange := strings.Cut(value, "-")
		first, err := strconv.ParseUint(from, 10, 32)
		last := uint64(0)
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil {
			return nil, usageErrorf("--accept %q must be a status code or a range of them, such as 204 or 200-299", value)
		}
		ranges = append(ranges, &gnomonv1.HttpRequest_StatusRange{First: uint32(first), Last: uint32(last)})
	}
	return ranges, nil
}

func readFileOrStdin(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}
