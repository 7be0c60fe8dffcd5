package sqlite

import "gnomon/store"

// reach says which ends of a list the position before its page gives already. SQLite
// begins to read an index at one lower bound and stops at one upper bound; of two it takes
// either, and reads all that lies between them on each page. So one is given.
type reach struct {
	order      store.ActionOrder
	descending bool
	after      *store.ActionPosition
}

// idFrom says that all ids of the page are at least this.
func (r reach) idFrom(id string) bool {
	return r.after != nil && r.order == store.ByID && !r.descending && r.after.ID >= id
}

// idBefore says that all ids of the page are below this.
func (r reach) idBefore(id string) bool {
	return r.after != nil && r.order == store.ByID && r.descending && r.after.ID <= id
}

// dueFrom says that all times of the page, in microseconds since 1970, are at least this.
func (r reach) dueFrom(micros int64) bool {
	return r.after != nil && r.order == store.ByScheduledAt && !r.descending && r.after.ScheduledAt.UnixMicro() >= micros
}

// dueBefore says that all times of the page are before this.
func (r reach) dueBefore(micros int64) bool {
	return r.after != nil && r.order == store.ByScheduledAt && r.descending && r.after.ScheduledAt.UnixMicro() < micros
}
