package ydb

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ydb-platform/ydb-go-sdk/v3"
)

// The environment that YDB's tools and SDKs read credentials from.
const (
	envAnonymous      = "YDB_ANONYMOUS_CREDENTIALS"
	envAccessToken    = "YDB_ACCESS_TOKEN_CREDENTIALS"
	envStaticUser     = "YDB_STATIC_CREDENTIALS_USER"
	envStaticPassword = "YDB_STATIC_CREDENTIALS_PASSWORD" //nolint:gosec // a name
	envOAuth2File     = "YDB_OAUTH2_KEY_FILE"
	envRootCerts      = "YDB_SSL_ROOT_CERTIFICATES_FILE"
)

// envUnsupported are kinds of credentials that need libraries this program does not
// have.
var envUnsupported = []string{
	"YDB_SERVICE_ACCOUNT_KEY_FILE_CREDENTIALS", "YDB_SERVICE_ACCOUNT_KEY_CREDENTIALS", "YDB_METADATA_CREDENTIALS",
}

// credentials is the option for what the environment says: an access token, a user
// and a password, or an OAuth 2.0 token exchange by a file; anonymous if it says so
// or says nothing. Two at once are refused, since which one is meant would depend on
// the reader.
func credentials(getenv func(string) string) (ydb.Option, error) {
	for _, name := range envUnsupported {
		if v := getenv(name); v != "" && v != "0" {
			return nil, fmt.Errorf("%s is set, which this program does not support: use %s, %s and %s, or %s",
				name, envAccessToken, envStaticUser, envStaticPassword, envOAuth2File)
		}
	}
	var chosen []string
	for _, name := range []string{envAccessToken, envStaticUser, envOAuth2File} {
		if getenv(name) != "" {
			chosen = append(chosen, name)
		}
	}
	if v := getenv(envAnonymous); v != "" && v != "0" {
		chosen = append(chosen, envAnonymous)
	}
	switch {
	case len(chosen) > 1:
		return nil, fmt.Errorf("%s are set, but credentials must be of one kind", strings.Join(chosen, " and "))
	case len(chosen) == 0 && getenv(envStaticPassword) != "":
		return nil, fmt.Errorf("%s is set, but %s is not", envStaticPassword, envStaticUser)
	case len(chosen) == 0 || chosen[0] == envAnonymous:
		return ydb.WithAnonymousCredentials(), nil
	case chosen[0] == envAccessToken:
		return ydb.WithAccessTokenCredentials(getenv(envAccessToken)), nil
	case chosen[0] == envStaticUser:
		return ydb.WithStaticCredentials(getenv(envStaticUser), getenv(envStaticPassword)), nil
	default:
		file := getenv(envOAuth2File)
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", envOAuth2File, err)
		}
		return ydb.WithOauth2TokenExchangeCredentialsFile(file), nil
	}
}

// rootCertificates are those of the file that the environment names, or nil for the
// system's.
func rootCertificates(getenv func(string) string) ([]byte, error) {
	file := getenv(envRootCerts)
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", envRootCerts, err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(pem) {
		return nil, errors.New(envRootCerts + " holds no certificate in PEM")
	}
	return pem, nil
}
