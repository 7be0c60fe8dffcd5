#!/bin/sh
# Makes Temporal's two databases, or brings those that are there to the version of this
# image, and can be run any number of times. Where the server is and who asks are in SQL_*.
set -eu

# prepare DATABASE SCHEMA
prepare() {
	temporal-sql-tool --database "$1" create-database
	# Makes the tables of versions, and leaves those that are there.
	temporal-sql-tool --database "$1" setup-schema --version 0.0
	temporal-sql-tool --database "$1" update-schema --schema-name "$2"
}

prepare temporal postgresql/v12/temporal
prepare temporal_visibility postgresql/v12/visibility
