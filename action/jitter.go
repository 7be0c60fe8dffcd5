package action

import (
	"hash/fnv"
	"math/bits"
	"strconv"
	"time"
)

// spread returns how much later than its tick an action is due: in [0, jitter), in
// whole microseconds, and always the same for the same id and tick, in every
// process and version. Over many ids and over many ticks it is spread evenly.
func spread(id string, tick time.Time, jitter time.Duration) time.Duration {
	if jitter < time.Microsecond {
		return 0
	}
	h := fnv.New64a()
	// Neither write can fail.
	_, _ = h.Write([]byte(id))
	_, _ = h.Write([]byte("/" + strconv.FormatInt(tick.UnixMicro(), 10)))
	part, _ := bits.Mul64(mix(h.Sum64()), uint64(jitter/time.Microsecond))
	return time.Duration(part) * time.Microsecond
}

// mix is the finaliser of MurmurHash3. FNV alone leaves the upper bits, which decide
// here, nearly equal for inputs that differ in their last byte.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}
