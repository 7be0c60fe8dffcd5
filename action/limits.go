package action

import (
	"time"

	"gnomon/rule"
)

// Limits of a scheduled action. They are part of the public contract, see the
// comments in gnomon/v1/action.proto.
const (
	// MaxPast is how far start_at may lie in the past; it then means at once
	// (seed 000, StartPolicy; M-11).
	MaxPast = 10 * time.Minute
	// MinPeriod is the least distance of two ticks (seed 000,
	// SendPeriodicallyPolicy; M-28).
	MinPeriod = time.Second
	// MinRestartPeriod is the least delay of a retry, and the default of both
	// bounds (seed 000, RetryPolicy; M-19, M-20).
	MinRestartPeriod = time.Second
	// MaxJitter is the widest spread of due times.
	MaxJitter = 24 * time.Hour
	// MaxDuration is the longest period and the longest delay, 100 years of 365.25
	// days. It is below a third of what time.Duration holds, so that sums of two
	// cannot overflow.
	MaxDuration = rule.MaxDuration
	// MaxCalendarGap is, in years, within which a cron expression must match.
	MaxCalendarGap = 5
	// MaxCronLength is in bytes. The expression is parsed again for every tick.
	MaxCronLength = 512

	// DefaultPerformTimeout is the time limit of an attempt that sets none.
	DefaultPerformTimeout = 10 * time.Second
	// MaxPerformTimeout is the longest time limit that an action can ask for.
	MaxPerformTimeout = 10 * time.Minute
	// MaxMockSleep is how long a mock may sleep.
	MaxMockSleep = time.Hour

	// MaxSpecSize is of the encoded Spec, in bytes.
	MaxSpecSize = 256 << 10
	// MaxIDLength is in bytes. With its prefix an id stays far below Temporal's
	// limit of 1000 for workflow ids.
	MaxIDLength = rule.MaxIDLength
	// MaxLabels is how many labels an action has.
	MaxLabels = rule.MaxLabels
	// MaxLabelKeyLength is in bytes.
	MaxLabelKeyLength = rule.MaxLabelKeyLength
	// MaxLabelValueLength is in bytes.
	MaxLabelValueLength = rule.MaxLabelValueLength

	// MaxURLLength is in bytes.
	MaxURLLength = rule.MaxURLLength
	// MaxHeaders is how many headers a spec may set.
	MaxHeaders = rule.MaxHeaders
	// MaxHeaderValueLength is in bytes.
	MaxHeaderValueLength = rule.MaxHeaderValueLength
	// MaxBodySize is of an HTTP request, in bytes.
	MaxBodySize = 128 << 10
	// MaxPushField is of a push's recipient and of its type, in bytes.
	MaxPushField = 256
	// MaxPushPayload is in bytes.
	MaxPushPayload = 64 << 10
)

// maxTime is the last moment that a protobuf timestamp can hold and a JSON reader
// can read back.
var maxTime = time.Date(9999, time.December, 31, 23, 59, 59, 999_999_999, time.UTC)
