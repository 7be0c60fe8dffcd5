// Package schema is what the stores have in common about the version of their schema.
package schema
