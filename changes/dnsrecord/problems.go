package dnsrecord

// Codes of problems that changes have with what stands in a zone. Those that a change
// has by itself are in package records. They are part of the public contract.
const (
	// CodeZoneNotServed: this installation, or the zone's server, does not serve the
	// zone. Hard.
	CodeZoneNotServed = "ZONE_NOT_SERVED"
	// CodeRecordExists: the set to be added exists. Hard.
	CodeRecordExists = "RECORD_EXISTS"
	// CodeRecordMissing: the set to be updated or deleted does not exist. Hard.
	CodeRecordMissing = "RECORD_MISSING"
	// CodeRecordDiffers: the set is not the one that previous_data names. Hard.
	CodeRecordDiffers = "RECORD_DIFFERS"
	// CodeCNAMEConflict: a CNAME and other records would stand at one name. Hard.
	CodeCNAMEConflict = "CNAME_CONFLICT"
	// CodeDuplicateChange: the batch changes the set twice. Hard.
	CodeDuplicateChange = "DUPLICATE_CHANGE"
	// CodeZoneNameServers: the name servers of the zone itself cannot be deleted. Hard.
	CodeZoneNameServers = "ZONE_NAME_SERVERS"
	// CodeTTLOutOfRange: the time to live is not usual in the zone. Soft.
	CodeTTLOutOfRange = "TTL_OUT_OF_RANGE"
	// CodeOwnedByAnother: the name belongs to another owner than the change says. Soft.
	CodeOwnedByAnother = "OWNED_BY_ANOTHER"
	// CodeHighValueName: the name is one that a person should look at. Soft.
	CodeHighValueName = "HIGH_VALUE_NAME"
)
