package cli

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	gnomonv1 "gnomon/api/gnomon/v1"
)

// batchCreateOptions are the flags of batch create.
type batchCreateOptions struct {
	when         batchTime
	file         string
	zoneFiles    []string
	labels       []string
	comment      string
	requestID    string
	validateOnly bool
	wait         bool
}

func batchCreateCommand(s *session) *cobra.Command {
	var o batchCreateOptions
	cmd := &cobra.Command{
		Use:   "create [ID]",
		Short: "Validate a batch of changes and have it applied at its time",
		Long: `Validate a batch of changes and have it applied at its time.

The batch comes from a YAML or JSON file, its changes also from files in the style of
a zone file, which docs/batches.md describes. ID and flags change what the file says.

All changes are validated, against the world too. Any problem, hard or soft, refuses
the batch: all problems are shown as a table, nothing is stored, the exit code is 1.

Without --timeout it may take a minute. With --wait the command follows the batch as 'gnomon batch watch' does.`,
		Example: `  gnomon batch create release --file release.yaml --at 2026-11-21T03:00:00Z
  gnomon batch create dns-1 --zone-file changes.zone --in 1h --comment 'ticket 7'
  gnomon batch create --file release.yaml --in 1h --validate-only
  gnomon batch create release-2 --file release.yaml --in 5s --wait`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf("%s takes at most one batch id, got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, s, first(args)) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "take the batch from this YAML or JSON file, '-' for stdin")
	flags.StringArrayVar(&o.zoneFiles, "zone-file", nil, "add the DNS changes of this file in the style of a zone file, '-' for stdin (repeatable)")
	o.when.register(cmd, "when it is applied")
	flags.StringArrayVar(&o.labels, "label", nil, "label KEY=VALUE (repeatable)")
	flags.StringVar(&o.comment, "comment", "", "for people: why")
	flags.StringVar(&o.requestID, "request-id", "", "makes the call idempotent: the same id again gives the same batch")
	flags.BoolVar(&o.validateOnly, "validate-only", false, "validate, against the world too, and store nothing")
	flags.BoolVar(&o.wait, "wait", false, "follow it until it has ended or a person must decide")
	return cmd
}

// validationTimeout is how long create waits unless --timeout says otherwise: a thousand
// changes are asked about in the world.
const validationTimeout = time.Minute

func (o *batchCreateOptions) run(cmd *cobra.Command, s *session, id string) error {
	b, err := o.batch(cmd, s, id)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("timeout") {
		s.timeout = validationTimeout
	}
	client, closeClient, err := s.batches()
	if err != nil {
		return err
	}
	defer closeClient()
	ctx, cancel := s.call(cmd.Context())
	defer cancel()
	reply, err := client.CreateBatch(ctx, &gnomonv1.CreateBatchRequest{
		Batch: b, RequestId: o.requestID, ValidateOnly: o.validateOnly,
	})
	if err != nil {
		return err
	}
	word := "created"
	if o.validateOnly {
		word = "valid"
	}
	p := s.printer(cmd)
	if !o.wait {
		return p.batchResult(word, reply)
	}
	if p.format == outputTable {
		if err := p.batchResult(word, reply); err != nil {
			return err
		}
	}
	follow := batchWatchOptions{}
	return follow.run(cmd, s, client, reply.GetId())
}

// batch is what files and flags ask for.
func (o *batchCreateOptions) batch(cmd *cobra.Command, s *session, id string) (*gnomonv1.Batch, error) {
	if o.file == "" && len(o.zoneFiles) == 0 {
		return nil, usageErrorf("%s needs --file or --zone-file", cmd.CommandPath())
	}
	if o.wait && o.validateOnly {
		return nil, usageErrorf("--wait and --validate-only exclude each other")
	}
	if given := append(slices.Clone(o.zoneFiles), o.file); len(slices.DeleteFunc(given, func(name string) bool { return name != "-" })) > 1 {
		return nil, usageErrorf("only one of --file and --zone-file can be '-'")
	}
	at, err := o.when.read(cmd, s.env.now())
	if err != nil {
		return nil, err
	}
	b := &gnomonv1.Batch{}
	if o.file != "" {
		if b, err = readBatch(cmd, o.file); err != nil {
			return nil, err
		}
	}
	for _, name := range o.zoneFiles {
		changes, err := readZoneFile(cmd, name)
		if err != nil {
			return nil, err
		}
		b.Changes = append(b.Changes, changes...)
	}
	if id != "" {
		b.Id = id
	}
	if b.GetId() == "" {
		return nil, usageErrorf("%s needs a batch id, as an argument or in the file", cmd.CommandPath())
	}
	if at != nil {
		b.ScheduledAt = at
	}
	if cmd.Flags().Changed("comment") {
		b.Comment = o.comment
	}
	b.Labels, err = changePairs("label", b.GetLabels(), o.labels)
	return b, err
}
