// Package worker puts together and runs the Temporal worker of gnomon: workflows,
// activities, performers, the mirror's writer, and their tuning.
package worker
