package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// serviceAccount is where a pod finds the credentials of its service account.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// apiClient makes requests of an API server.
type apiClient struct {
	server string
	client *http.Client
	// tokenFile has a bearer token, which is replaced while the client is used. "": none is sent.
	tokenFile string
}

// call returns the answer's status and body.
func (api apiClient) call(method, path, contentType string, body []byte) (int, []byte, error) {
	request, err := http.NewRequest(method, api.server+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", contentType)
	if api.tokenFile != "" {
		token, err := os.ReadFile(api.tokenFile)
		if err != nil {
			return 0, nil, err
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	answer, err := api.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// read decodes the object or list of a path.
func (api apiClient) read(path string, into any) error {
	status, text, err := api.call(http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("GET %s: %d", path, status)
	}
	return yaml.Unmarshal(text, into)
}

func newAPIClient(server string, authorities []byte, certificates ...tls.Certificate) apiClient {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: certificates, RootCAs: pool}}
	return apiClient{server: server, client: &http.Client{Timeout: 10 * time.Second, Transport: transport}}
}

// clientInPod uses the service account of this program's pod.
func clientInPod() (apiClient, error) {
	authorities, err := os.ReadFile(filepath.Join(serviceAccount, "ca.crt"))
	if err != nil {
		return apiClient{}, err
	}
	address := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	api := newAPIClient("https://"+address, authorities)
	api.tokenFile = filepath.Join(serviceAccount, "token")
	return api, nil
}

// clientOf uses a kubeconfig with embedded certificates.
func clientOf(kubeconfig string) (apiClient, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return apiClient{}, err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Certificate []byte `json:"client-certificate-data"`
				Key         []byte `json:"client-key-data"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return apiClient{}, err
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return apiClient{}, errors.New("the kubeconfig must have one cluster and one user")
	}
	cluster, user := config.Clusters[0].Cluster, config.Users[0].User
	certificate, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return apiClient{}, err
	}
	return newAPIClient(cluster.Server, cluster.CA, certificate), nil
}
