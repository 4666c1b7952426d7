package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// podData is what the templates of a static pod and its configuration are executed with.
type podData struct {
	Namespace     string
	Image         string
	OperatorImage string
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
	PolicyImage   string
	BindAddress   string
	BindNetwork   string
}

func newPodData(args arguments) podData {
	return podData{
		Namespace:     args.of("manifest-namespace"),
		Image:         args.of("manifest-image"),
		OperatorImage: args.of("manifest-operator-image"),
		PullPolicy:    args.of("manifest-image-pull-policy"),
		ConfigPath:    args.of("manifest-config-host-path"),
		ConfigFile:    args.of("manifest-config-file-name"),
		SecretsPath:   args.of("manifest-secrets-host-path"),
		CloudPath:     args.of("manifest-cloud-provider-host-path"),
	}
}

// writeStaticPod writes the manifests and the configuration of a control-plane component.
func writeStaticPod(args arguments, component string, data podData) error {
	assets := assetFunctions(args.of("asset-input-dir"))
	for _, folder := range []string{"bootstrap-manifests", "manifests"} {
		target := filepath.Join(args.of("asset-output-dir"), folder)
		if err := executeTemplates(component+"/"+folder, target, data, assets); err != nil {
			return err
		}
	}
	return writeConfig(component, "config.yaml", args.of("config-output-file"), data)
}

// writeConfig writes a configuration file with its keys in order.
func writeConfig(component, name, target string, data podData) error {
	config, err := readConfig(component, name, data)
	if err != nil {
		return err
	}
	return writeObject(target, config)
}

func readConfig(component, name string, data podData) (map[string]any, error) {
	text, err := executeTemplate("templates/"+component+"/"+name, data, nil)
	if err != nil {
		return nil, err
	}
	var config map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name, component, err)
	}
	return config, nil
}

// renderKubeScheduler writes the scheduler's static pod.
func renderKubeScheduler(arguments []string) error {
	args, _, err := parse(arguments, manifestOptions("kube-scheduler"), genericOptions(), []option{
		{name: "cluster-config-file"},
	})
	if err != nil {
		return err
	}
	if _, err := os.Stat(args.of("asset-input-dir")); err != nil {
		return err
	}
	return writeStaticPod(args, "scheduler", newPodData(args))
}

// renderKubeControllerManager writes the static pod of the controller-manager and the cluster
// policy controller.
func renderKubeControllerManager(arguments []string) error {
	const component = "controller-manager"
	args, _, err := parse(arguments, manifestOptions("kube-controller-manager"), genericOptions(), []option{
		{name: "cluster-config-file"},
		{name: "cluster-policy-controller-image"},
		{name: "cpc-config-output-file", required: true},
		{name: "disable-phase-2", boolean: true},
	})
	if err != nil {
		return err
	}
	data := newPodData(args)
	data.PolicyImage = args.of("cluster-policy-controller-image")
	if data.FeatureGates, err = readFeatureGates(args); err != nil {
		return err
	}
	if file := args.of("cluster-config-file"); file != "" {
		if data.Networks, err = readNetworks(file); err != nil {
			return err
		}
	}
	kubeconfig := filepath.Join(args.of("asset-input-dir"), "../auth/kubeconfig")
	if _, err := os.ReadFile(kubeconfig); err != nil {
		return fmt.Errorf("failed to read the bootstrap kubeconfig: %w", err)
	}
	config, err := readConfig(component, "config.yaml", data)
	if err != nil {
		return err
	}
	if data.Arguments, err = extendedArguments(config); err != nil {
		return err
	}
	if err := writeStaticPod(args, component, data); err != nil {
		return err
	}
	return writeConfig(component, "cpc-config.yaml", args.of("cpc-config-output-file"), data)
}

// extendedArguments are a configuration's arguments as a command line has them.
func extendedArguments(config map[string]any) ([]string, error) {
	named, correct := config["extendedArguments"].(map[string]any)
	if !correct {
		return nil, errors.New("the configuration has no extendedArguments")
	}
	var list []string
	for name, entries := range named {
		all, correct := entries.([]any)
		if !correct {
			return nil, fmt.Errorf("extendedArguments.%s is not a list", name)
		}
		for _, entry := range all {
			list = append(list, fmt.Sprintf("--%s=%v", name, entry))
		}
	}
	slices.Sort(list)
	return list, nil
}

// joined is for flags that take both address families in one value.
func (data podData) Joined(list []string) string { return strings.Join(list, ",") }
