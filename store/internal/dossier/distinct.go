package dossier

import "gnomon/store"

// Distinct puts up to limit entities together, each once, from pages of rows in the order
// of their keys, of which an entity may have many. read gives the next page, of up to
// limit rows behind a key.
func Distinct(after store.EntityKey, limit int, read func(after store.EntityKey) ([]store.EntityVersion, error)) ([]store.EntityVersion, error) {
	var found []store.EntityVersion
	for {
		page, err := read(after)
		if err != nil {
			return nil, err
		}
		for _, v := range page {
			if len(found) == limit {
				return found, nil
			}
			if len(found) == 0 || found[len(found)-1].Key != v.Key {
				found = append(found, v)
			}
		}
		if len(page) < limit || len(found) == limit {
			return found, nil
		}
		after = page[len(page)-1].Key
	}
}
