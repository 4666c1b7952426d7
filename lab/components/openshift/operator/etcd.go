package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const etcdNamespace = "openshift-etcd"

// renderEtcd writes the static pod of the bootstrap host's etcd, its certificates, and the
// manifests from which the operator adopts them.
func renderEtcd(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "asset-output-dir", required: true},
		{name: "template-dir", standard: templateFolder},
		{name: "etcd-image", required: true},
		{name: "infra-config-file", required: true},
		{name: "network-config-file", required: true},
		{name: "cluster-configmap-file", required: true},
		{name: "delayed-ha-bootstrap-scaling-marker-file"},
	})
	if err != nil {
		return err
	}
	if _, err := readKind(args.of("infra-config-file"), "Infrastructure"); err != nil {
		return err
	}
	network, err := readNetworks(args.of("network-config-file"))
	if err != nil {
		return err
	}
	config, err := readInstallConfig(args.of("cluster-configmap-file"))
	if err != nil {
		return err
	}
	if config.BootstrapInPlace == nil || config.ControlPlane.Replicas != 1 {
		return errors.New("the stand-in renders bootstrap-in-place with one control-plane replica only")
	}
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	address, err := hostAddress(config, network)
	if err != nil {
		return err
	}
	return writeEtcd(args.of("asset-output-dir"), args.of("etcd-image"), hostname, address)
}

// hostAddress is this host's address in the machine network, of the family of the first service
// network.
func hostAddress(config installConfig, network networks) (net.IP, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	wantsV6 := len(network.Services) > 0 && strings.Contains(network.Services[0], ":")
	for _, machines := range config.Networking.MachineNetwork {
		_, machineNetwork, err := net.ParseCIDR(machines.CIDR)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			host, _, err := net.ParseCIDR(address.String())
			if err == nil && machineNetwork.Contains(host) && (host.To4() == nil) == wantsV6 {
				return host, nil
			}
		}
	}
	return nil, errors.New("no address of this host is in the install-config's machineNetwork")
}

// etcdFiles is a certificate with the Secret that holds it.
type etcdFiles struct {
	name        string
	pair        keyPair
	managed     string
	description string
}

func writeEtcd(folder, image, hostname string, address net.IP) error {
	signer, err := newSigner(signerName("etcd-signer"))
	if err != nil {
		return err
	}
	metrics, err := newSigner(signerName("etcd-metric-signer"))
	if err != nil {
		return err
	}
	files, err := etcdCertificates(signer, metrics, hostname, address)
	if err != nil {
		return err
	}
	member := filepath.Join(folder, "etc-kubernetes/static-pod-resources/etcd-member")
	manifests := filepath.Join(folder, "manifests")
	tls := filepath.Join(folder, "tls")
	all := map[string]any{}
	for _, file := range files {
		secret := file.secret()
		if err := writeObject(filepath.Join(manifests, etcdNamespace+"-"+file.name+".yaml"), secret); err != nil {
			return err
		}
		folders := []string{filepath.Join(member, "etcd-all-certs")}
		if file.name == "etcd-client" {
			folders = append(folders, tls)
		}
		for _, target := range folders {
			if err := file.pair.write(filepath.Join(target, file.name)); err != nil {
				return err
			}
		}
		if strings.HasSuffix(file.name, "-"+hostname) {
			all[file.name+".crt"] = file.pair.certPEM
			all[file.name+".key"] = file.pair.keyPEM
		}
	}
	bundle := signer.certPEM
	for _, file := range []string{filepath.Join(member, "ca.crt"), filepath.Join(tls, "etcd-ca-bundle.crt")} {
		if err := writeFile(file, bundle, secretMode); err != nil {
			return err
		}
	}
	for name, manifest := range etcdBundles(all, bundle, metrics.certPEM) {
		if err := writeObject(filepath.Join(manifests, etcdNamespace+"-"+name+".yaml"), manifest); err != nil {
			return err
		}
	}
	data := map[string]any{
		"Image":    image,
		"Hostname": hostname,
		"Address":  address.String(),
		// The name of an address in the ConfigMap of the endpoints.
		"EndpointName": base64.RawStdEncoding.EncodeToString([]byte(address.String())),
		"URLHost":      urlHost(address),
		"AnyHost":      urlHost(anyAddress(address)),
	}
	return executeTemplates("etcd", folder, data, nil)
}

func (pair keyPair) write(path string) error {
	if err := writeFile(path+".crt", pair.certPEM, secretMode); err != nil {
		return err
	}
	return writeFile(path+".key", pair.keyPEM, secretMode)
}

func etcdCertificates(signer, metrics keyPair, hostname string, address net.IP) ([]etcdFiles, error) {
	hosts := []string{
		"127.0.0.1", address.String(), "::1", "localhost",
		"etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
		"etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local",
	}
	files := []etcdFiles{
		{"etcd-signer", signer, "signer", "Signs etcd's peer, server and client certificates."},
		{"etcd-metric-signer", metrics, "signer", "Signs the certificates of etcd's metrics."},
	}
	client, err := signer.newClient("etcd-client", "etcd-client", "system:etcd")
	if err != nil {
		return nil, err
	}
	metricClient, err := metrics.newClient("etcd-metric", "etcd-metric", "system:etcd")
	if err != nil {
		return nil, err
	}
	files = append(files,
		etcdFiles{"etcd-client", client, "target", "Client certificate to reach etcd."},
		etcdFiles{"etcd-metric-client", metricClient, "target", "Client certificate to read etcd's metrics."})
	for _, server := range []struct {
		name   string
		signer keyPair
	}{{"etcd-peer", signer}, {"etcd-serving", signer}, {"etcd-serving-metrics", metrics}} {
		pair, err := server.signer.newServer(hosts)
		if err != nil {
			return nil, err
		}
		files = append(files, etcdFiles{server.name + "-" + hostname, pair, "target", "Certificate of node " + hostname + "."})
	}
	return files, nil
}

func (file etcdFiles) secret() map[string]any {
	certificate := file.pair.certificate
	annotations := map[string]string{
		"auth.openshift.io/certificate-issuer":     certificate.Issuer.CommonName,
		"auth.openshift.io/certificate-not-after":  certificate.NotAfter.Format(time.RFC3339),
		"auth.openshift.io/certificate-not-before": certificate.NotBefore.Format(time.RFC3339),
		"certificates.openshift.io/refresh-period": "36792h0m0s",
		"openshift.io/description":                 file.description,
		"openshift.io/owning-component":            "etcd",
	}
	if len(certificate.DNSNames) > 0 {
		annotations["auth.openshift.io/certificate-hostnames"] = strings.Join(certificate.DNSNames, ",")
	}
	data := map[string]any{"tls.crt": file.pair.certPEM, "tls.key": file.pair.keyPEM}
	secret := etcdObject("Secret", file.name, data, annotations)
	secret["metadata"].(map[string]any)["labels"] = managedLabel(file.managed)
	secret["type"] = "kubernetes.io/tls"
	return secret
}

// etcdBundles are the objects that hold more than one certificate, by name.
func etcdBundles(all map[string]any, bundle, metrics []byte) map[string]map[string]any {
	owned := map[string]string{"openshift.io/owning-component": "Etcd"}
	certificates := etcdObject("Secret", "etcd-all-certs", all, owned)
	certificates["type"] = "Opaque"
	bundles := map[string]map[string]any{"etcd-all-certs": certificates}
	for name, contents := range map[string][]byte{"etcd-ca-bundle": bundle, "etcd-metrics-ca-bundle": metrics} {
		manifest := etcdObject("ConfigMap", name, map[string]any{"ca-bundle.crt": string(contents)}, owned)
		manifest["metadata"].(map[string]any)["labels"] = managedLabel("ca-bundle")
		bundles[name] = manifest
	}
	bundles["etcd-all-bundles"] = etcdObject("ConfigMap", "etcd-all-bundles", map[string]any{
		"server-ca-bundle.crt":  string(bundle),
		"metrics-ca-bundle.crt": string(metrics),
	}, map[string]string{
		"openshift.io/owning-component":            "Etcd",
		"openshift.io/ceo-bundle-rollout-revision": "0",
	})
	return bundles
}

func etcdObject(kind, name string, data map[string]any, annotations map[string]string) map[string]any {
	return map[string]any{
		"apiVersion": "v1",
		"kind":       kind,
		"metadata":   map[string]any{"name": name, "namespace": etcdNamespace, "annotations": annotations},
		"data":       data,
	}
}

func managedLabel(managed string) map[string]string {
	return map[string]string{"auth.openshift.io/managed-certificate-type": managed}
}

func signerName(name string) string {
	return fmt.Sprintf("%s_%s@%d", etcdNamespace, name, time.Now().Unix())
}

func urlHost(address net.IP) string {
	if address.To4() == nil {
		return "[" + address.String() + "]"
	}
	return address.String()
}

func anyAddress(address net.IP) net.IP {
	if address.To4() == nil {
		return net.IPv6unspecified
	}
	return net.IPv4zero
}
