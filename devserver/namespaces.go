package devserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/serialization"
	temporalsql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

type searchAttributes = map[string]enumspb.IndexedValueType

// prepareNamespaces makes the namespaces exist with the search attributes. It
// works on the database before the server starts: through the API the caches of
// a running server would take seconds to notice.
func prepareNamespaces(ctx context.Context, cfg *config.SQL, names []string, attributes searchAttributes) error {
	var wanted []*sqliteschema.NamespaceConfig
	for _, name := range names {
		ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, attributes)
		if err != nil {
			return fmt.Errorf("devserver: namespace %s: %w", name, err)
		}
		wanted = append(wanted, ns)
	}
	if err := sqliteschema.CreateNamespaces(cfg, wanted...); err != nil {
		return fmt.Errorf("devserver: namespaces cannot be made: %w", err)
	}
	db, err := temporalsql.NewSQLDB(sqlplugin.DbKindMain, cfg, resolver.NewNoopResolver(),
		log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("devserver: namespaces cannot be read: %w", err)
	}
	for _, name := range names {
		if err := addSearchAttributes(ctx, db, name, attributes); err != nil {
			return errors.Join(fmt.Errorf("devserver: namespace %s: %w", name, err), db.Close())
		}
	}
	return db.Close()
}

// addSearchAttributes gives a namespace those that it lacks. Writing the row
// directly is sound only while no server runs on the database.
func addSearchAttributes(ctx context.Context, db sqlplugin.DB, name string, wanted searchAttributes) error {
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("%d rows have its name, one should", len(rows))
	}
	row := rows[0]
	serializer := serialization.NewSerializer()
	encoding, err := enumspb.EncodingTypeFromString(row.DataEncoding)
	if err != nil {
		return err
	}
	detail, err := serializer.NamespaceDetailFromBlob(&commonpb.DataBlob{EncodingType: encoding, Data: row.Data})
	if err != nil {
		return err
	}
	if detail.GetConfig() == nil {
		detail.Config = &persistencespb.NamespaceConfig{}
	}
	aliases, err := withAliases(detail.GetConfig().GetCustomSearchAttributeAliases(), wanted)
	if err != nil {
		return err
	}
	if maps.Equal(aliases, detail.GetConfig().GetCustomSearchAttributeAliases()) {
		return nil
	}
	detail.Config.CustomSearchAttributeAliases = aliases
	blob, err := serializer.NamespaceDetailToBlob(detail)
	if err != nil {
		return err
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	_, err = db.UpdateNamespace(ctx, &row)
	return err
}

// withAliases returns aliases (column of the visibility table to name) with a
// free column of the right type for each wanted name that has none.
func withAliases(aliases map[string]string, wanted searchAttributes) (map[string]string, error) {
	columns := sadefs.GetDBIndexSearchAttributes(nil).GetCustomSearchAttributes()
	out := make(map[string]string, len(aliases)+len(wanted))
	has := make(searchAttributes, len(aliases))
	for column, name := range aliases {
		out[column] = name
		has[name] = columns[column]
	}
	// In a fixed order, so that the same configuration makes the same columns.
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		kind := wanted[name]
		if stands, ok := has[name]; ok {
			if stands != kind {
				return nil, fmt.Errorf("search attribute %s is of type %s in this database, %s is wanted", name, stands, kind)
			}
			continue
		}
		column, ok := freeColumn(columns, out, kind)
		if !ok {
			return nil, fmt.Errorf("search attribute %s: no column of type %s is left", name, kind)
		}
		out[column] = name
	}
	return out, nil
}

func freeColumn(columns searchAttributes, taken map[string]string, kind enumspb.IndexedValueType) (string, bool) {
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		if _, used := taken[column]; !used && columns[column] == kind {
			return column, true
		}
	}
	return "", false
}
