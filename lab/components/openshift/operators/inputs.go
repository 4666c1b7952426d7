package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// networks are the address ranges of the cluster.
type networks struct {
	Pods     []string
	Services []string
}

// podData is what the templates of a static pod and its configuration are executed with. The names
// are those of the renders, whose templates they are.
type podData struct {
	Namespace     string
	Image         string
	OperatorImage string
	PolicyImage   string
	PullPolicy    string
	ConfigPath    string
	ConfigFile    string
	SecretsPath   string
	CloudPath     string
	Networks      networks
	FeatureGates  []string
	SingleReplica bool
	Issuer        string
	EtcdURLs      []string
	EtcdCA        string
	Arguments     []string
	BindAddress   string
	BindNetwork   string
	Hostname      string
	URLHost       string
	AnyHost       string
}

// Joined is for flags that take both address families in one value.
func (podData) Joined(list []string) string { return strings.Join(list, ",") }

// images are those that a static pod runs.
type images struct{ operand, operator, policy string }

// observer reads what a static pod is made of from the cluster.
type observer struct {
	kube    kubernetes.Interface
	config  configclient.Interface
	version string
	images  images
}

func (o observer) observe(ctx context.Context, target component) (podData, error) {
	resources := fmt.Sprintf("/etc/kubernetes/static-pod-resources/%s-REVISION", target.manifest)
	data := podData{
		Namespace:     target.namespace,
		Image:         o.images.operand,
		OperatorImage: o.images.operator,
		PolicyImage:   o.images.policy,
		PullPolicy:    "IfNotPresent",
		ConfigPath:    resources + "/configmaps/config",
		ConfigFile:    "config.yaml",
		SecretsPath:   resources + "/secrets/credentials",
		CloudPath:     "/etc/kubernetes/cloud",
		Issuer:        "https://kubernetes.default.svc",
		EtcdCA:        "etcd-ca-bundle.crt",
		BindAddress:   "0.0.0.0:6443",
		BindNetwork:   "tcp4",
	}
	for _, read := range []func(context.Context, *podData) error{
		o.readNetworks, o.readInfrastructure, o.readFeatureGates, o.readIssuer, o.readEndpoints, o.readNode,
	} {
		if err := read(ctx, &data); err != nil {
			return data, err
		}
	}
	return data, nil
}

func (o observer) readNetworks(ctx context.Context, data *podData) error {
	network, err := o.config.ConfigV1().Networks().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, pods := range network.Spec.ClusterNetwork {
		data.Networks.Pods = append(data.Networks.Pods, pods.CIDR)
	}
	data.Networks.Services = network.Spec.ServiceNetwork
	return nil
}

func (o observer) readInfrastructure(ctx context.Context, data *podData) error {
	infrastructure, err := o.config.ConfigV1().Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
	data.SingleReplica = err == nil && infrastructure.Status.ControlPlaneTopology == configv1.SingleReplicaTopologyMode
	return err
}

// readFeatureGates sets "<name>=true" of all enabled gates, then "<name>=false" of all others.
func (o observer) readFeatureGates(ctx context.Context, data *podData) error {
	gate, err := o.config.ConfigV1().FeatureGates().Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, entry := range gate.Status.FeatureGates {
		if entry.Version == o.version {
			data.FeatureGates = append(gates(entry.Enabled, "=true"), gates(entry.Disabled, "=false")...)
			return nil
		}
	}
	return fmt.Errorf("missing desired version %q in featuregates.config.openshift.io/cluster", o.version)
}

func gates(list []configv1.FeatureGateAttributes, value string) []string {
	var names []string
	for _, gate := range list {
		names = append(names, string(gate.Name)+value)
	}
	slices.Sort(names)
	return names
}

// readIssuer reads the issuer of service account tokens; the object need not exist.
func (o observer) readIssuer(ctx context.Context, data *podData) error {
	authentication, err := o.config.ConfigV1().Authentications().Get(ctx, "cluster", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && authentication.Spec.ServiceAccountIssuer != "" {
		data.Issuer = authentication.Spec.ServiceAccountIssuer
	}
	return err
}

// readEndpoints reads the members of etcd, and the URLs as the API server's operator orders them.
func (o observer) readEndpoints(ctx context.Context, data *podData) error {
	endpoints, err := o.kube.CoreV1().ConfigMaps("openshift-etcd").Get(ctx, "etcd-endpoints", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, address := range endpoints.Data {
		data.EtcdURLs = append(data.EtcdURLs, "https://"+net.JoinHostPort(address, "2379"))
	}
	slices.Sort(data.EtcdURLs)
	data.EtcdURLs = append(data.EtcdURLs, "https://localhost:2379")
	return nil
}

// readNode reads the name and the address of the only control-plane node, as etcd's member has them.
func (o observer) readNode(ctx context.Context, data *podData) error {
	nodes, err := o.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "node-role.kubernetes.io/master"})
	if err != nil {
		return err
	}
	if len(nodes.Items) != 1 {
		return fmt.Errorf("found %d control-plane nodes instead of one", len(nodes.Items))
	}
	data.Hostname = nodes.Items[0].Name
	for _, address := range nodes.Items[0].Status.Addresses {
		if address.Type == "InternalIP" {
			data.URLHost, data.AnyHost = urlHosts(net.ParseIP(address.Address))
			return nil
		}
	}
	return fmt.Errorf("the node %s has no address", data.Hostname)
}

// urlHosts returns an address and any address of its family, as URLs have them.
func urlHosts(address net.IP) (string, string) {
	if address.To4() == nil {
		return "[" + address.String() + "]", "[::]"
	}
	return address.String(), "0.0.0.0"
}
