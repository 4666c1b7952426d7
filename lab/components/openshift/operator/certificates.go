package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// certificateLifetime is that of etcd's signers and leaf certificates.
const certificateLifetime = 5 * 365 * 24 * time.Hour

// keyPair is a certificate with its key.
type keyPair struct {
	certificate *x509.Certificate
	key         *rsa.PrivateKey
	certPEM     []byte
	keyPEM      []byte
}

// newSigner makes a certificate authority.
func newSigner(commonName string) (keyPair, error) {
	return issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}, nil)
}

// newClient makes a client certificate of a user.
func (signer keyPair) newClient(user string, groups ...string) (keyPair, error) {
	return issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: user, Organization: groups},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}, &signer)
}

// newServer makes a certificate for servers that are clients of each other too. Addresses are
// names as well, for clients that compare them so.
func (signer keyPair) newServer(hosts []string) (keyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: hosts[0]},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              hosts,
	}
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		}
	}
	return issue(template, &signer)
}

// issue signs a certificate with a new key; without a signer it signs itself.
func issue(template *x509.Certificate, signer *keyPair) (keyPair, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return keyPair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return keyPair{}, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Second).Truncate(time.Second)
	template.NotAfter = template.NotBefore.Add(certificateLifetime)
	identifier := sha1.Sum(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	template.SubjectKeyId = identifier[:]
	parent, parentKey := template, key
	if signer != nil {
		parent, parentKey = signer.certificate, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		return keyPair{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{
		certificate: certificate,
		key:         key,
		certPEM:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:      encodeKey(key),
	}, nil
}

func encodeKey(key *rsa.PrivateKey) []byte {
	der := x509.MarshalPKCS1PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der})
}
