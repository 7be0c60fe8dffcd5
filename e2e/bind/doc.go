// Package bind has batches change the zones of a real name server (BIND) through gnomon
// as it is shipped: facade and worker are processes of their own, and the worker's
// updates pass a proxy at which a test can hold, lose or delay them and kill or freeze
// the worker. BIND's serials and journals judge. There are only tests.
package bind
