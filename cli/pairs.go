package cli

import (
	"maps"
	"strings"
)

// changePairs returns a copy of pairs with changes applied in order: KEY=VALUE
// sets, KEY- removes. flag names where they came from.
func changePairs(flag string, pairs map[string]string, changes []string) (map[string]string, error) {
	if len(changes) == 0 {
		return pairs, nil
	}
	changed := maps.Clone(pairs)
	if changed == nil {
		changed = map[string]string{}
	}
	for _, change := range changes {
		key, value, isPair := strings.Cut(change, "=")
		if isPair && key != "" {
			changed[key] = value
			continue
		}
		key, removes := strings.CutSuffix(change, "-")
		if isPair || !removes || key == "" {
			return nil, usageErrorf("--%s %q must be KEY=VALUE, or KEY- to remove it", flag, change)
		}
		delete(changed, key)
	}
	return changed, nil
}
