package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"time"
)

// serverName is the name for which every certificate is shown.
const serverName = "api.shop.example.com"

// serve shows a certificate, which its issuers and its key follow, to a client that trusts the last of them.
func serve(text string) answer {
	pair, err := tls.X509KeyPair([]byte(text), []byte(text))
	if err != nil {
		return answer{Error: err.Error()}
	}
	trusted := x509.NewCertPool()
	last := pair.Certificate[len(pair.Certificate)-1]
	trusted.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last}))
	near, far := net.Pipe()
	defer near.Close()
	for _, end := range []net.Conn{near, far} {
		if err := end.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return answer{Error: err.Error()}
		}
	}
	go func() {
		defer far.Close()
		_ = tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
	}()
	client := tls.Client(near, &tls.Config{RootCAs: trusted, ServerName: serverName})
	return answer{Error: message(client.Handshake())}
}
