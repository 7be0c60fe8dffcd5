package cli

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// moment writes times for people.
type moment struct {
	now   func() time.Time
	local *time.Location
}

// relative is "in 5s", "3m ago" or "now", in the largest fitting unit.
func (m moment) relative(at time.Time) string {
	distance := at.Sub(m.now())
	switch {
	case distance > -time.Second/2 && distance < time.Second/2:
		return "now"
	case distance > 0:
		return "in " + span(distance)
	default:
		return span(-distance) + " ago"
	}
}

// absolute is the local time to the second, with its zone.
func (m moment) absolute(at time.Time) string { return inZone(at, m.local) }

// both is the relative and the local time, or "" for no time.
func (m moment) both(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return m.relative(at.AsTime()) + ", " + m.absolute(at.AsTime())
}

// full is both and UTC in RFC 3339, or "" for no time.
func (m moment) full(at *timestamppb.Timestamp) string {
	if at == nil {
		return ""
	}
	return m.both(at) + " (" + utc(at.AsTime()) + ")"
}

func inZone(at time.Time, zone *time.Location) string {
	return at.In(zone).Format("2006-01-02 15:04:05 MST")
}

// utc is RFC 3339 in UTC, with a fraction where there is one.
func utc(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// span is a positive duration in two units at most, rounded: 5s, 3m20s, 4h5m, 2d3h.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m")
	default:
		return twoUnits(d, day, "d", time.Hour, "h")
	}
}

func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	d = d.Truncate(small)
	if rest := d % large; rest >= small {
		return fmt.Sprintf("%d%s%d%s", d/large, largeName, rest/small, smallName)
	}
	return fmt.Sprintf("%d%s", d/large, largeName)
}
