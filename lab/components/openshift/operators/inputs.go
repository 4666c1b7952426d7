package main

import (
	"context"
	"fmt"
	"net"
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
// are those of the renders, whose templates they are: networks, feature gates and members of etcd are
// left empty here, and come from the observed configuration.
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
	kube   kubernetes.Interface
	config configclient.Interface
	images images
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
		o.readInfrastructure, o.readIssuer, o.readNode,
	} {
		if err := read(ctx, &data); err != nil {
			return data, err
		}
	}
	return data, nil
}

func (o observer) readInfrastructure(ctx context.Context, data *podData) error {
	infrastructure, err := o.config.ConfigV1().Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
	data.SingleReplica = err == nil && infrastructure.Status.ControlPlaneTopology == configv1.SingleReplicaTopologyMode
	return err
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
