package report

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Percentile of some durations, in milliseconds; NaN of none. p is 0 to 1.
func Percentile(all []time.Duration, p float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(all))
	at := int(math.Ceil(p*float64(len(sorted)))) - 1
	return Milliseconds(sorted[min(max(at, 0), len(sorted)-1)])
}

// Milliseconds of a duration.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Spread is the median of some numbers with the least and the greatest.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
}

// SpreadOf leaves out what is not a number.
func SpreadOf(all []float64) Spread {
	var numbers []float64
	for _, x := range all {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			numbers = append(numbers, x)
		}
	}
	if len(numbers) == 0 {
		return Spread{}
	}
	slices.SortFunc(numbers, cmp.Compare[float64])
	n := len(numbers)
	return Spread{
		Median: (numbers[(n-1)/2] + numbers[n/2]) / 2, Low: numbers[0], High: numbers[n-1], Rounds: n,
	}
}

// Exactly is the spread of a number that was counted.
func Exactly(x float64) Spread { return Spread{Median: x, Low: x, High: x, Rounds: 1} }

// Ratios of two contenders round by round.
func Ratios(of, to []float64) []float64 {
	all := make([]float64, min(len(of), len(to)))
	for i := range all {
		all[i] = of[i] / to[i]
	}
	return all
}
