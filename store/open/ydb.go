package open

import (
	"context"
	"regexp"

	"gnomon/store"
	"gnomon/store/ydb"
)

// ydbSchema is that of an installation.
type ydbSchema struct{ connection string }

func (s ydbSchema) config() ydb.Config { return ydb.Config{ConnectionString: s.connection} }

func (s ydbSchema) versions(ctx context.Context) (v Versions, err error) {
	v.Have, v.Want, err = ydb.Versions(ctx, s.config())
	return v, err
}

func (s ydbSchema) migrate(ctx context.Context) error { return ydb.Migrate(ctx, s.config()) }

func (s ydbSchema) open(ctx context.Context) (store.Store, error) {
	return opened(ydb.Open(ctx, s.config()))
}

// login is what a connection string may hold before its host.
var login = regexp.MustCompile(`//[^/]*@`)

// shown is a store's name without the login that a connection string may hold.
func shown(name string) string { return login.ReplaceAllString(name, "//") }
