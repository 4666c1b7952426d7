package main

import (
	"context"
	"fmt"
	"os"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/configobserver/featuregates"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/genericoperatorclient"
	"github.com/openshift/library-go/pkg/operator/revisioncontroller"
	"github.com/openshift/library-go/pkg/operator/staticpod"
	"github.com/openshift/library-go/pkg/operator/staticpod/controller/installer"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
)

type options struct {
	component  string
	kubeconfig string
	version    string
	templates  string
	images     images
	minReady   time.Duration
}

func operatorCommand() *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "operator",
		Short: "Install revisions of a component's static pod, until it is stopped",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return o.run(genericserver.SetupSignalContext())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.component, "component", "", "etcd, kube-apiserver, kube-controller-manager or kube-scheduler")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig; without it, the service account of the pod")
	flags.StringVar(&o.version, "release-version", "0.0.1", "version that the ClusterOperator reports")
	flags.StringVar(&o.templates, "templates", "", "folder of the templates of static pods; without it, somebody else keeps the ConfigMap of the pod")
	flags.StringVar(&o.images.operand, "operand-image", "", "image of the static pod")
	flags.StringVar(&o.images.operator, "operator-image", "", "image of the component's operator in the release")
	flags.StringVar(&o.images.policy, "policy-image", "", "image of the cluster policy controller")
	flags.DurationVar(&o.minReady, "min-ready", 0, "how long a pod must be Ready before its revision counts")
	return command
}

func (o options) run(ctx context.Context) error {
	target, err := componentNamed(o.component)
	if err != nil {
		return err
	}
	// The installer pods run this program too.
	if os.Getenv("OPERATOR_IMAGE") == "" {
		return fmt.Errorf("the environment variable OPERATOR_IMAGE is not set")
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	return o.take(ctx, target, config)
}

func (o options) take(ctx context.Context, target component, config *rest.Config) error {
	realClock := clock.RealClock{}
	recorder := events.NewLoggingEventRecorder(target.name+"-operator", realClock)
	kubeClient, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	configClient, err := configclient.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := ensureConfiguration(ctx, config, target); err != nil {
		return err
	}
	operatorClient, dynamicInformers, err := genericoperatorclient.NewStaticPodOperatorClient(
		realClock, config,
		operatorv1.GroupVersion.WithResource(target.resource),
		operatorv1.GroupVersion.WithKind(target.kind),
		target.spec, target.status,
	)
	if err != nil {
		return err
	}

	// "" is for objects without a namespace: nodes.
	namespaces := v1helpers.NewKubeInformersForNamespaces(kubeClient, "", target.namespace, target.namespace+"-operator", etcdNamespace)
	configInformers := configinformers.NewSharedInformerFactory(configClient, 10*time.Minute)
	versions := status.NewVersionGetter()
	versions.SetVersion("operator", o.version)

	configMaps, secrets := []string{target.manifest}, []string{}
	var unrevisioned []installer.UnrevisionedResource
	if o.templates != "" {
		configMaps, secrets = append(configMaps, target.bundles...), target.secrets
		if target.kubeconfigs {
			unrevisioned = append(unrevisioned, installer.UnrevisionedResource{Name: kubeconfigsSecret})
		}
	}
	builder := staticpod.NewBuilder(operatorClient, kubeClient, namespaces, namespaces.InformersFor(""), configInformers, realClock).
		WithEvents(recorder).
		WithVersioning(target.name, versions).
		WithRevisionedResources(target.namespace, target.pod, resourcesOf(configMaps), resourcesOf(secrets)).
		WithCustomInstaller([]string{program, "installer"}, onHostNetwork).
		WithMinReadyDuration(o.minReady).
		WithPruning([]string{program, "prune"}, target.manifest)
	if len(unrevisioned) > 0 {
		builder = builder.WithUnrevisionedCerts(target.name+"-certs", nil, unrevisioned)
	}
	controllers, err := builder.ToControllers()
	if err != nil {
		return err
	}
	observe := func() {}
	if o.templates != "" && len(target.observers) > 0 {
		observe = o.observation(ctx, target, operatorClient, namespaces, configInformers, recorder)
	}
	clusterOperator := status.NewClusterOperatorStatusController(
		target.name,
		[]configv1.ObjectReference{
			{Group: operatorv1.GroupName, Resource: target.resource, Name: "cluster"},
			{Resource: "namespaces", Name: target.namespace},
		},
		configClient.ConfigV1(), configInformers.Config().V1().ClusterOperators(),
		operatorClient, versions, recorder, realClock,
	)

	dynamicInformers.Start(ctx.Done())
	namespaces.Start(ctx.Done())
	configInformers.Start(ctx.Done())
	if o.templates != "" {
		observer := observer{kube: kubeClient, config: configClient, images: o.images}
		go operand{target, observer, operatorClient, recorder, o.templates}.run(ctx)
	}
	go observe()
	go controllers.Start(ctx)
	go clusterOperator.Run(ctx, 1)
	<-ctx.Done()
	return nil
}

// observation returns what keeps the observed configuration, once the feature gates are known: like the
// operators of a release, none of its first revisions lacks them.
func (o options) observation(
	ctx context.Context,
	target component,
	client v1helpers.StaticPodOperatorClient,
	namespaces v1helpers.KubeInformersForNamespaces,
	config configinformers.SharedInformerFactory,
	recorder events.Recorder,
) func() {
	v1 := config.Config().V1()
	gates := featuregates.NewFeatureGateAccess(o.version, "", v1.ClusterVersions(), v1.FeatureGates(), recorder)
	// The observer runs again anyway; those of a release start over.
	gates.SetChangeHandler(func(featuregates.FeatureChange) {})
	configMaps := namespaces.InformersFor(etcdNamespace).Core().V1().ConfigMaps()
	controller := newConfigObserver(target, client, recorder,
		observed{
			networks:   v1.Networks().Lister(),
			configMaps: configMaps.Lister(),
			synced:     []cache.InformerSynced{v1.Networks().Informer().HasSynced, configMaps.Informer().HasSynced},
		},
		[]factory.Informer{client.Informer(), v1.Networks().Informer(), v1.FeatureGates().Informer(), configMaps.Informer()},
		gates,
	)
	return func() {
		go gates.Run(ctx)
		select {
		case <-gates.InitialFeatureGatesObserved():
			controller.Run(ctx, 1)
		case <-ctx.Done():
		}
	}
}

// onHostNetwork lets an installer pod reach this host's API server, as nothing serves the addresses of
// Services.
func onHostNetwork(pod *corev1.Pod, _ string, _ *operatorv1.StaticPodOperatorSpec, _ int32) error {
	pod.Spec.HostNetwork = true
	for index := range pod.Spec.Containers {
		container := &pod.Spec.Containers[index]
		container.Env = append(container.Env,
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: "127.0.0.1"},
			corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: "6443"},
		)
	}
	return nil
}

func resourcesOf(names []string) []revisioncontroller.RevisionResource {
	resources := make([]revisioncontroller.RevisionResource, 0, len(names))
	for _, name := range names {
		resources = append(resources, revisioncontroller.RevisionResource{Name: name})
	}
	return resources
}
