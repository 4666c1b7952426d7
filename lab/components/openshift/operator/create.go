package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// collections has the API's path of each kind that the stand-in creates.
var collections = map[string]string{
	"Namespace":                "/api/v1/namespaces",
	"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}

// createUntilAllExist creates the objects of a folder's manifests, again and again until each of them
// exists. It returns how many there are.
func createUntilAllExist(folder, kubeconfig string) (int, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return 0, err
	}
	server, client, err := clientOf(kubeconfig)
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		for create(server, client, file) != nil {
			time.Sleep(time.Second)
		}
	}
	return len(files), nil
}

func create(server string, client *http.Client, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var object struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		return err
	}
	collection, known := collections[object.Kind]
	if !known {
		return fmt.Errorf("%s has the unknown kind %q", file, object.Kind)
	}
	answer, err := client.Post(server+collection, "application/yaml", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusCreated || answer.StatusCode == http.StatusConflict {
		return nil
	}
	return fmt.Errorf("%s: %s", file, answer.Status)
}

// clientOf returns the address of the API server in a kubeconfig with embedded certificates, and a
// client with these.
func clientOf(kubeconfig string) (string, *http.Client, error) {
	text, err := os.ReadFile(kubeconfig)
	if err != nil {
		return "", nil, err
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
		return "", nil, err
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return "", nil, errors.New("the kubeconfig must have one cluster and one user")
	}
	cluster, user := config.Clusters[0].Cluster, config.Users[0].User
	certificate, err := tls.X509KeyPair(user.Certificate, user.Key)
	if err != nil {
		return "", nil, err
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(cluster.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		Certificates: []tls.Certificate{certificate},
		RootCAs:      authorities,
	}}
	return cluster.Server, &http.Client{Timeout: 10 * time.Second, Transport: transport}, nil
}
