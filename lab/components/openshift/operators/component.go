package main

import (
	"encoding/json"
	"fmt"

	kubecontrolplanev1 "github.com/openshift/api/kubecontrolplane/v1"
	openshiftcontrolplanev1 "github.com/openshift/api/openshiftcontrolplane/v1"
	applyv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/configobserver"
	"github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// component is a static pod that an operator takes over.
type component struct {
	// name is that of the ClusterOperator.
	name string
	// resource and kind are those of the operator's configuration, whose only object is "cluster".
	resource, kind string
	// namespace has the pods, namespace + "-operator" the operator.
	namespace string
	// pod is the name of the static pod, to which the kubelet adds the node's.
	pod string
	// manifest names the ConfigMap with the static pod, and its file on the host.
	manifest string
	// template is the file of the static pod, relative to the renders' templates.
	template string
	// ports are those of the host that its containers listen on.
	ports []int
	// configFiles are those of the ConfigMap "config", by their names in it.
	configFiles map[string]configFile
	// observers find the observed configuration; feature gates are observed at gatePaths.
	observers []configobserver.ObserveConfigFunc
	gatePaths [][]string
	// required is what must be observed before there is a first revision.
	required [][]string
	// extended: the arguments of the configuration are also those of the command line.
	extended bool
	// bundles and secrets are what else belongs to a revision.
	bundles, secrets []string
	// credentials makes Secrets by name: some of a revision, the others of every revision.
	credentials map[string]func(*keyring, addresses) files
	// kubeconfigs: the Secret with those of the host's administrators belongs to no revision.
	kubeconfigs bool
	spec        genericoperatorclient.StaticPodOperatorSpecExtractorFunc
	status      genericoperatorclient.StaticPodOperatorStatusExtractorFunc
}

// configFile is the file of a static pod's configuration, relative to the renders' templates, and what it may
// have of the observed configuration.
type configFile struct {
	template string
	schema   runtime.Object
}

// kubeconfigsSecret is copied to the host with each revision, to a folder that all revisions share.
const kubeconfigsSecret = "node-kubeconfigs"

var components = []component{
	{
		name: "etcd", resource: "etcds", kind: "Etcd",
		namespace: "openshift-etcd", pod: "etcd", manifest: "etcd-pod",
		template: "etcd/etc-kubernetes/manifests/etcd-member-pod.yaml",
		ports:    []int{2379, 2380, 9978},
		bundles:  []string{"etcd-ca-bundle"}, secrets: []string{"etcd-all-certs"},
		spec: specOf(applyv1.ExtractEtcd), status: statusOf(applyv1.ExtractEtcdStatus),
	},
	{
		name: "kube-apiserver", resource: "kubeapiservers", kind: "KubeAPIServer",
		namespace: "openshift-kube-apiserver", pod: "kube-apiserver", manifest: "kube-apiserver-pod",
		template: "kube-apiserver/bootstrap-manifests/kube-apiserver-pod.yaml",
		ports:    []int{6443, 6080},
		configFiles: map[string]configFile{
			"config.yaml": {"kube-apiserver/config.yaml", &kubecontrolplanev1.KubeAPIServerConfig{}},
		},
		observers: []configobserver.ObserveConfigFunc{observeEtcdServers, observeServiceNetworks},
		gatePaths: [][]string{{"apiServerArguments", "feature-gates"}},
		required:  [][]string{etcdServersPath, restrictedCIDRsPath[:3]},
		bundles:   []string{"config"}, secrets: []string{"credentials"},
		credentials: map[string]func(*keyring, addresses) files{
			"credentials":     apiServerCredentials,
			kubeconfigsSecret: administratorKubeconfigs,
		},
		kubeconfigs: true,
		spec:        specOf(applyv1.ExtractKubeAPIServer), status: statusOf(applyv1.ExtractKubeAPIServerStatus),
	},
	{
		name: "kube-controller-manager", resource: "kubecontrollermanagers", kind: "KubeControllerManager",
		namespace: "openshift-kube-controller-manager", pod: "kube-controller-manager", manifest: "kube-controller-manager-pod",
		template: "controller-manager/bootstrap-manifests/kube-controller-manager-pod.yaml",
		ports:    []int{10257, 10357},
		configFiles: map[string]configFile{
			"config.yaml": {"controller-manager/config.yaml", &kubecontrolplanev1.KubeControllerManagerConfig{}},
			"cluster-policy-controller-config.yaml": {
				"controller-manager/cpc-config.yaml", &openshiftcontrolplanev1.OpenShiftControllerManagerConfig{},
			},
		},
		observers: []configobserver.ObserveConfigFunc{observeNodeNetworks},
		gatePaths: [][]string{{"extendedArguments", "feature-gates"}, {"featureGates"}},
		required:  [][]string{{"extendedArguments", "feature-gates"}, {"featureGates"}},
		extended:  true,
		bundles:   []string{"config"}, secrets: []string{"credentials"},
		credentials: map[string]func(*keyring, addresses) files{"credentials": controllerManagerCredentials},
		spec:        specOf(applyv1.ExtractKubeControllerManager), status: statusOf(applyv1.ExtractKubeControllerManagerStatus),
	},
	{
		name: "kube-scheduler", resource: "kubeschedulers", kind: "KubeScheduler",
		namespace: "openshift-kube-scheduler", pod: "openshift-kube-scheduler", manifest: "kube-scheduler-pod",
		template:    "scheduler/bootstrap-manifests/kube-scheduler-pod.yaml",
		ports:       []int{10259},
		secrets:     []string{"credentials"},
		credentials: map[string]func(*keyring, addresses) files{"credentials": schedulerCredentials},
		spec:        specOf(applyv1.ExtractKubeScheduler), status: statusOf(applyv1.ExtractKubeSchedulerStatus),
	},
}

func componentNamed(name string) (component, error) {
	for _, each := range components {
		if each.name == name {
			return each, nil
		}
	}
	return component{}, fmt.Errorf("no static pod operator for the component %q", name)
}

func specOf[T, A any](extract func(*T, string) (A, error)) genericoperatorclient.StaticPodOperatorSpecExtractorFunc {
	return appliedPart[T, A, applyv1.StaticPodOperatorSpecApplyConfiguration](extract, "spec")
}

func statusOf[T, A any](extract func(*T, string) (A, error)) genericoperatorclient.StaticPodOperatorStatusExtractorFunc {
	return appliedPart[T, A, applyv1.StaticPodOperatorStatusApplyConfiguration](extract, "status")
}

// appliedPart finds in an operator's configuration what a field manager has applied, as server-side
// apply needs it: every controller keeps its own fields. All kinds have the fields of P in common.
func appliedPart[T, A, P any](extract func(*T, string) (A, error), field string) func(*unstructured.Unstructured, string) (*P, error) {
	return func(object *unstructured.Unstructured, manager string) (*P, error) {
		var typed T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
			return nil, err
		}
		applied, err := extract(&typed, manager)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(applied)
		if err != nil {
			return nil, err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil || fields[field] == nil {
			return nil, err
		}
		var part P
		return &part, json.Unmarshal(fields[field], &part)
	}
}
