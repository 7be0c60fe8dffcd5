package batch

import "time"

// Limits of a batch. They are part of the public contract, see gnomon/v1/batch.proto.
const (
	// MaxChanges is how many changes a batch has.
	MaxChanges = 1000
	// MaxSize is of the encoded batch, in bytes: as JSON it still fits a request of the
	// default greatest size, 1 MiB, unless it is all escapes.
	MaxSize = 768 << 10
	// MaxCommentLength is in bytes.
	MaxCommentLength = 1024
	// MaxProblems is how many problems are kept and returned.
	MaxProblems = 1000
	// MaxTextLength is of a problem's message and of a change's error, in bytes.
	MaxTextLength = 1 << 10

	// MaxBodySize is of the encoded body of an http_change, in bytes.
	MaxBodySize = 64 << 10
	// MaxBodyDepth is how deep a body may be nested: far below what JSON decoders take.
	MaxBodyDepth = 100
	// DefaultHTTPTimeout is the time limit of the requests of an http_change that sets
	// none.
	DefaultHTTPTimeout = 10 * time.Second
	// MaxHTTPTimeout is the longest that it may ask for: the lease of a change outlasts
	// it.
	MaxHTTPTimeout = time.Minute

	// MaxNameLength is of a DNS name in presentation format without escapes, in bytes.
	MaxNameLength = 255
	// MaxTTL is in seconds (RFC 2181, 8).
	MaxTTL = 1<<31 - 1
	// MaxRecords is how many records a dns_record names.
	MaxRecords = 100
	// MaxRecordLength is of one record in presentation format, in bytes.
	MaxRecordLength = 4096
	// MaxOwnerLength is in bytes.
	MaxOwnerLength = 63
)
