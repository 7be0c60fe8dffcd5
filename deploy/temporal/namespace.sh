#!/bin/sh
# Makes the namespace TEMPORAL_NAMESPACE at TEMPORAL_ADDRESS if there is none, and ends when
# Temporal serves it. gnomon's starters add their search attributes to it themselves.
set -eu

# How often it is tried and how many seconds lie between two tries: a Temporal that listens
# may take a minute until it serves.
tries=${TRIES:-60} pause=${PAUSE:-2}

# How long finished workflows can be looked at; docs/operations.md, Retention.
retention=72h

until temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
	temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"; do
	tries=$((tries - 1))
	if [ "$tries" -le 0 ]; then
		echo "Temporal at $TEMPORAL_ADDRESS has no namespace $TEMPORAL_NAMESPACE, and it cannot be made." >&2
		exit 1
	fi
	sleep "$pause"
done
echo "Temporal at $TEMPORAL_ADDRESS has the namespace $TEMPORAL_NAMESPACE."
