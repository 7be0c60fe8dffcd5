package starter

import "github.com/google/uuid"

// mint is the Guid that an update brings (M-07). Under a request_id it is the same
// however often the call is made: where no worker answers, the first of several
// commands is the one that will be applied, and the replies to all must name its Guid.
// Another update under the same request_id, told apart by its digest, has another.
func mint(id, requestID, digest string) string {
	if requestID == "" {
		return uuid.NewString()
	}
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("gnomon update\x00"+id+"\x00"+requestID+"\x00"+digest)).String()
}
