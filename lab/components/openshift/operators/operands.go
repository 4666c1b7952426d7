package main

import (
	"fmt"
	"net"
	"net/url"
	"slices"

	configv1 "github.com/openshift/api/config/v1"
)

const (
	managed = "openshift-config-managed"
	// administratorsSigner signs only the kubeconfig of this host's administrators.
	administratorsSigner = "node-system-admin-signer"
)

// addresses are where the API server is reached.
type addresses struct {
	// external and internal are the hosts in the cluster's URLs.
	external, internal string
	// services are the addresses of the Service "kubernetes".
	services []string
}

func addressesOf(infrastructure *configv1.Infrastructure, services []string) (addresses, error) {
	var found addresses
	for text, host := range map[string]*string{
		infrastructure.Status.APIServerURL:         &found.external,
		infrastructure.Status.APIServerInternalURL: &found.internal,
	} {
		parsed, err := url.Parse(text)
		if err != nil || parsed.Hostname() == "" {
			return found, fmt.Errorf("infrastructures.config.openshift.io/cluster has the URL %q", text)
		}
		*host = parsed.Hostname()
	}
	for _, network := range services {
		_, parsed, err := net.ParseCIDR(network)
		if err != nil {
			return found, err
		}
		first := slices.Clone(parsed.IP)
		first[len(first)-1]++
		found.services = append(found.services, first.String())
	}
	return found, nil
}

// apiServerCredentials are the files of the API server's rendered configuration, by the same names.
func apiServerCredentials(k *keyring, at addresses) files {
	administrators := k.ensureSigner(apiOperator, administratorsSigner)
	clients := k.signer(apiOperator, "kube-control-plane-signer")
	kubelets := k.signer(apiOperator, "kube-apiserver-to-kubelet-signer")
	aggregator := k.signer(apiOperator, "aggregator-client-signer")
	const tokens = "next-bound-service-account-signing-key"
	contents := files{
		"kube-apiserver-complete-client-ca-bundle.crt": slices.Concat(
			k.configMap("openshift-config", "admin-kubeconfig-client-ca", "ca-bundle.crt"),
			k.configMap(managed, "csr-controller-ca", "ca-bundle.crt"),
			k.configMap(managed, "kubelet-bootstrap-kubeconfig", "ca-bundle.crt"),
			k.certificate(clients), k.certificate(kubelets), k.certificate(administrators),
		),
		"etcd-ca-bundle.crt":                    k.configMap("openshift-etcd", "etcd-ca-bundle", "ca-bundle.crt"),
		"etcd-client.crt":                       k.secret("openshift-etcd", "etcd-client", "tls.crt"),
		"etcd-client.key":                       k.secret("openshift-etcd", "etcd-client", "tls.key"),
		"kubelet-client-ca-bundle.crt":          k.configMap(managed, "csr-controller-ca", "ca-bundle.crt"),
		"aggregator-signer.crt":                 k.certificate(aggregator),
		"service-account.pub":                   k.configMap(managed, "sa-token-signing-certs", "service-account-001.pub"),
		"bound-service-account-signing-key.pub": k.secret(apiOperator, tokens, "service-account.pub"),
		"bound-service-account-signing-key.key": k.secret(apiOperator, tokens, "service-account.key"),
	}
	k.client(contents, "kube-apiserver-to-kubelet-client", kubelets, "system:kube-apiserver", "kube-master")
	k.client(contents, "apiserver-proxy", aggregator, "system:openshift-aggregator")
	loadBalancer := k.signer(apiOperator, "loadbalancer-serving-signer")
	k.server(contents, "kube-apiserver-lb-server", loadBalancer, at.external)
	k.server(contents, "kube-apiserver-internal-lb-server", loadBalancer, at.internal)
	localhost := k.signer(apiOperator, "localhost-serving-signer")
	k.server(contents, "kube-apiserver-localhost-server", localhost, "localhost", "127.0.0.1", "::1")
	network := k.signer(apiOperator, "service-network-serving-signer")
	names := []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	k.server(contents, "kube-apiserver-service-network-server", network, slices.Concat(names, at.services)...)
	return contents
}

// administratorKubeconfigs are for administrators on the host, and outlive every revision.
func administratorKubeconfigs(k *keyring, _ addresses) files {
	signer := k.ensureSigner(apiOperator, administratorsSigner)
	return files{"localhost.kubeconfig": k.kubeconfig(signer, "system:admin", "system:masters")}
}

// controllerManagerCredentials are the files of the controller-manager's rendered configuration and
// of the cluster policy controller's.
func controllerManagerCredentials(k *keyring, _ addresses) files {
	const name = "system:kube-controller-manager"
	clients := k.signer(apiOperator, "kube-control-plane-signer")
	contents := files{
		"kubeconfig":          k.kubeconfig(clients, name),
		"kubelet-signer.crt":  k.secret(managerOperator, "csr-signer-signer", "tls.crt"),
		"kubelet-signer.key":  k.secret(managerOperator, "csr-signer-signer", "tls.key"),
		"service-account.key": k.secret("openshift-config", "initial-service-account-private-key", "service-account.key"),
		"kube-apiserver-complete-server-ca-bundle.crt": k.servers(),
		"kube-control-plane-ca-bundle.crt":             k.certificate(clients),
	}
	k.client(contents, "kube-control-plane-kube-controller-manager-client", clients, name)
	return contents
}

func schedulerCredentials(k *keyring, _ addresses) files {
	clients := k.signer(apiOperator, "kube-control-plane-signer")
	return files{"kubeconfig": k.kubeconfig(clients, "system:kube-scheduler")}
}
