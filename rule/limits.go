package rule

import "time"

// Limits of what every kind of work has. They are part of the public contract.
const (
	// MaxDuration is the longest duration, 100 years of 365.25 days. It is below a third
	// of what time.Duration holds, so that sums of two cannot overflow.
	MaxDuration = 36525 * 24 * time.Hour

	// MaxIDLength is in bytes. With its prefix an id stays far below Temporal's limit of
	// 1000 for workflow ids.
	MaxIDLength = 200
	// MaxLabels is how many labels there are.
	MaxLabels = 32
	// MaxLabelKeyLength is in bytes.
	MaxLabelKeyLength = 63
	// MaxLabelValueLength is in bytes.
	MaxLabelValueLength = 255

	// MaxURLLength is in bytes.
	MaxURLLength = 2048
	// MaxHeaders is how many headers a spec may set.
	MaxHeaders = 64
	// MaxHeaderValueLength is in bytes.
	MaxHeaderValueLength = 4096
)
