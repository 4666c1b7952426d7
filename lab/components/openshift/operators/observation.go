package main

import (
	"fmt"
	"net"
	"slices"

	configlisters "github.com/openshift/client-go/config/listers/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/configobserver"
	"github.com/openshift/library-go/pkg/operator/configobserver/featuregates"
	"github.com/openshift/library-go/pkg/operator/configobserver/network"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resourcesynccontroller"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// What an operator observes, it keeps in spec.observedConfig of its own configuration, and merges into the
// configuration of its static pod: each change makes a revision. The fields are those that the operators of
// a release observe of the same objects.

const etcdNamespace = "openshift-etcd"

var (
	etcdServersPath     = []string{"apiServerArguments", "etcd-servers"}
	restrictedCIDRsPath = []string{
		"admission", "pluginConfig", "network.openshift.io/RestrictedEndpointsAdmission", "configuration", "restrictedCIDRs",
	}
	servicesSubnetPath = []string{"servicesSubnet"}
	clusterCIDRPath    = []string{"extendedArguments", "cluster-cidr"}
	serviceRangePath   = []string{"extendedArguments", "service-cluster-ip-range"}
)

// observed has what observers read, from caches.
type observed struct {
	networks   configlisters.NetworkLister
	configMaps corelisters.ConfigMapLister
	synced     []cache.InformerSynced
}

func (observed) ResourceSyncer() resourcesynccontroller.ResourceSyncer { return nil }
func (o observed) PreRunHasSynced() []cache.InformerSynced             { return o.synced }

// newConfigObserver returns the controller that keeps the operator's observed configuration.
func newConfigObserver(
	target component,
	client v1helpers.StaticPodOperatorClient,
	recorder events.Recorder,
	listers observed,
	informers []factory.Informer,
	gates featuregates.FeatureGateAccess,
) factory.Controller {
	observers := slices.Clone(target.observers)
	for _, path := range target.gatePaths {
		observers = append(observers, featuregates.NewObserveFeatureFlagsFunc(nil, nil, path, gates))
	}
	return configobserver.NewConfigObserver(target.name, client, recorder, listers, informers, observers...)
}

// observeEtcdServers observes the members of etcd. Without the ConfigMap it keeps what was observed before.
func observeEtcdServers(listers configobserver.Listers, _ events.Recorder, existing map[string]any) (map[string]any, []error) {
	before := configobserver.Pruned(existing, etcdServersPath)
	endpoints, err := listers.(observed).configMaps.ConfigMaps(etcdNamespace).Get("etcd-endpoints")
	if err != nil {
		return before, []error{err}
	}
	urls := []string{"https://localhost:2379"}
	for _, address := range endpoints.Data {
		if net.ParseIP(address) == nil {
			return before, []error{fmt.Errorf("configmaps/etcd-endpoints: %q is no address", address)}
		}
		urls = append(urls, "https://"+net.JoinHostPort(address, "2379"))
	}
	slices.Sort(urls)
	return setStrings(urls, etcdServersPath)
}

// observeServiceNetworks observes the networks that endpoints of Services may not be in, and that of Services.
func observeServiceNetworks(listers configobserver.Listers, recorder events.Recorder, existing map[string]any) (map[string]any, []error) {
	before := configobserver.Pruned(existing, restrictedCIDRsPath, servicesSubnetPath)
	pods, services, err := networksOf(listers.(observed), recorder)
	if err != nil || len(services) == 0 {
		return before, errorsOf(err)
	}
	found, errs := setStrings(slices.Concat(services, pods), restrictedCIDRsPath)
	if err := unstructured.SetNestedField(found, podData{}.Joined(services), servicesSubnetPath...); err != nil {
		return before, []error{err}
	}
	return found, errs
}

// observeNodeNetworks observes the networks as arguments of the controller-manager.
func observeNodeNetworks(listers configobserver.Listers, recorder events.Recorder, existing map[string]any) (map[string]any, []error) {
	before := configobserver.Pruned(existing, clusterCIDRPath, serviceRangePath)
	pods, services, err := networksOf(listers.(observed), recorder)
	if err != nil || len(pods) == 0 || len(services) == 0 {
		return before, errorsOf(err)
	}
	found, errs := setStrings([]string{podData{}.Joined(pods)}, clusterCIDRPath)
	if err := unstructured.SetNestedStringSlice(found, []string{podData{}.Joined(services)}, serviceRangePath...); err != nil {
		return before, []error{err}
	}
	return found, errs
}

// networksOf reads the status, which the network operator writes, not what the user asked for.
func networksOf(listers observed, recorder events.Recorder) (pods, services []string, err error) {
	if pods, err = network.GetClusterCIDRs(listers.networks, recorder); err != nil {
		return nil, nil, err
	}
	services, err = network.GetServiceCIDRs(listers.networks, recorder)
	return pods, services, err
}

func setStrings(values []string, path []string) (map[string]any, []error) {
	found := map[string]any{}
	return found, errorsOf(unstructured.SetNestedStringSlice(found, values, path...))
}

func errorsOf(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}
