package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

// serveInsecureReadyz answers /readyz without TLS with what the API server answers, for load
// balancers that cannot check over TLS.
func serveInsecureReadyz(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "insecure-port", standard: "6080"},
		{name: "delegate-url", required: true},
	})
	if err != nil {
		return err
	}
	delegate, err := url.Parse(args.of("delegate-url"))
	if err != nil {
		return fmt.Errorf("invalid delegate-url: %w", err)
	}
	// As in the operator: the answer of this host's own server needs no verification.
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	http.HandleFunc("/readyz", func(response http.ResponseWriter, _ *http.Request) {
		answer, err := client.Get(delegate.String())
		if err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		defer answer.Body.Close()
		response.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(response, answer.Body)
	})
	return serveUntilStopped(func(server *http.Server) error {
		server.Addr = ":" + args.of("insecure-port")
		return server.ListenAndServe()
	})
}

// startClusterPolicyController answers the probes of the controller's container and allocates ranges of
// users to namespaces.
func startClusterPolicyController(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "config", required: true},
		{name: "kubeconfig", required: true},
		{name: "namespace"},
		{name: "v"},
	})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(args.of("config"))
	if err != nil {
		return err
	}
	var config struct {
		ServingInfo struct {
			BindAddress string `json:"bindAddress"`
			CertFile    string `json:"certFile"`
			KeyFile     string `json:"keyFile"`
		} `json:"servingInfo"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return err
	}
	api, err := clientOf(args.of("kubeconfig"))
	if err != nil {
		return err
	}
	go allocateRanges(api)
	http.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(response, "ok")
	})
	fmt.Println("stand-in for the cluster policy controller: /healthz is answered and ranges of users are allocated")
	return serveUntilStopped(func(server *http.Server) error {
		server.Addr = config.ServingInfo.BindAddress
		return server.ListenAndServeTLS(config.ServingInfo.CertFile, config.ServingInfo.KeyFile)
	})
}

func serveUntilStopped(listen func(*http.Server) error) error {
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second}
	go func() {
		untilStopped()
		_ = server.Close()
	}()
	if err := listen(server); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
