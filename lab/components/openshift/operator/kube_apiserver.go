package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
)

// plainVersion is a semantic version without a leading "v".
var plainVersion = regexp.MustCompile(`^\d+\.\d+\.\d+([-+].+)?$`)

// renderKubeAPIServer writes the API server's static pod and configuration, the cluster's
// security context constraints, and the signers that the operator adopts.
func renderKubeAPIServer(arguments []string) error {
	args, _, err := parse(arguments, manifestOptions("kube-apiserver"), genericOptions(), []option{
		{name: "manifest-lock-host-path", standard: "/var/run/kubernetes/lock", required: true},
		{name: "manifest-etcd-server-urls", standard: "https://127.0.0.1:2379", required: true},
		{name: "manifest-etcd-serving-ca", standard: "root-ca.crt", required: true},
		{name: "cluster-config-file"},
		{name: "cluster-auth-file"},
		{name: "infra-config-file"},
		{name: "operand-kubernetes-version", required: true},
	})
	if err != nil {
		return err
	}
	if args.of("manifest-operator-image") == "" {
		return errors.New("missing required flag: --manifest-operator-image")
	}
	if version := args.of("operand-kubernetes-version"); !plainVersion.MatchString(version) {
		return fmt.Errorf("could not parse --operand-kubernetes-version: %q", version)
	}
	data, err := apiServerData(args)
	if err != nil {
		return err
	}
	if err := ensureTokenKeys(args.of("asset-input-dir")); err != nil {
		return err
	}
	const component = "kube-apiserver"
	if err := writeStaticPod(args, component, data); err != nil {
		return err
	}
	manifests := filepath.Join(args.of("asset-output-dir"), "manifests")
	if err := writeSecurityContextConstraints(manifests); err != nil {
		return err
	}
	definitions := filepath.Join(args.of("templates-input-dir"), "manifests")
	return copyDefinitions(definitions, "kube-apiserver_apirequestcounts.crd.yaml", manifests, nil)
}

func apiServerData(args arguments) (podData, error) {
	data := newPodData(args)
	data.EtcdURLs = args.list("manifest-etcd-server-urls")
	data.EtcdCA = args.of("manifest-etcd-serving-ca")
	data.Issuer = "https://kubernetes.default.svc"
	var err error
	if data.FeatureGates, err = readFeatureGates(args); err != nil {
		return data, err
	}
	if file := args.of("cluster-config-file"); file != "" {
		if data.Networks, err = readNetworks(file); err != nil {
			return data, err
		}
	}
	if data.BindAddress, data.BindNetwork, err = bindAddress(data.Networks.Pods); err != nil {
		return data, err
	}
	if file := args.of("infra-config-file"); file != "" {
		infrastructure, err := readKind(file, "Infrastructure")
		if err != nil {
			return data, err
		}
		data.SingleReplica = infrastructure.Status.ControlPlaneTopology == "SingleReplica"
	}
	issuer, err := readIssuer(args)
	if issuer != "" {
		data.Issuer = issuer
	}
	return data, err
}

// readIssuer reads the issuer of service account tokens. The file need not exist; its object may
// be among the manifests.
func readIssuer(args arguments) (string, error) {
	if file := args.of("cluster-auth-file"); file != "" {
		authentication, err := readObject(file)
		if err == nil || !os.IsNotExist(err) {
			return authentication.Spec.ServiceAccountIssuer, err
		}
	}
	found, err := manifestsOfKind(args.list("rendered-manifest-files"), "Authentication")
	for _, authentication := range found {
		return authentication.Spec.ServiceAccountIssuer, err
	}
	return "", err
}

// bindAddress returns address and network of the server for a cluster's pod networks.
func bindAddress(pods []string) (string, string, error) {
	switch len(pods) {
	case 0:
		return "0.0.0.0:6443", "tcp4", nil
	case 1:
		address, _, err := net.ParseCIDR(pods[0])
		if err != nil {
			return "", "", fmt.Errorf("invalid cluster CIDR %q: %w", pods[0], err)
		}
		if address.To4() == nil {
			return "[::]:6443", "tcp6", nil
		}
		return "0.0.0.0:6443", "tcp4", nil
	default:
		return "[::]:6443", "tcp", nil
	}
}

// ensureTokenKeys makes the key pair that signs service account tokens, unless both files exist.
func ensureTokenKeys(folder string) error {
	private := filepath.Join(folder, "bound-service-account-signing-key.key")
	public := filepath.Join(folder, "bound-service-account-signing-key.pub")
	_, privateErr := os.Stat(private)
	_, publicErr := os.Stat(public)
	if privateErr == nil && publicErr == nil {
		return nil
	}
	if !os.IsNotExist(privateErr) || !os.IsNotExist(publicErr) {
		return fmt.Errorf("%s and %s were not supplied together", private, public)
	}
	key, err := rsa.GenerateKey(rand.Reader, 4096)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	if err := os.WriteFile(private, encodeKey(key), secretMode); err != nil {
		return err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return os.WriteFile(public, encoded, publicMode)
}
