package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"sigs.k8s.io/yaml"
)

// object has what the stand-ins read of the manifests that they get.
type object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
	Spec struct {
		ClusterNetwork []struct {
			CIDR string `json:"cidr"`
		} `json:"clusterNetwork"`
		ServiceNetwork       []string `json:"serviceNetwork"`
		ServiceAccountIssuer string   `json:"serviceAccountIssuer"`
		FeatureSet           string   `json:"featureSet"`
	} `json:"spec"`
	Status struct {
		ControlPlaneTopology string `json:"controlPlaneTopology"`
		FeatureGates         []struct {
			Version  string        `json:"version"`
			Enabled  []featureGate `json:"enabled"`
			Disabled []featureGate `json:"disabled"`
		} `json:"featureGates"`
	} `json:"status"`
}

type featureGate struct {
	Name string `json:"name"`
}

// readObject reads the first document of a manifest.
func readObject(path string) (object, error) {
	var read object
	text, err := os.ReadFile(path)
	if err != nil {
		return read, err
	}
	if err := yaml.Unmarshal(text, &read); err != nil {
		return read, fmt.Errorf("failed to decode %s: %w", path, err)
	}
	return read, nil
}

// readKind reads a manifest that must be of this kind.
func readKind(path, kind string) (object, error) {
	read, err := readObject(path)
	if err == nil && read.Kind != kind {
		err = fmt.Errorf("%s: expected kind %s, found %q", path, kind, read.Kind)
	}
	return read, err
}

// manifestsOfKind reads the manifests of a kind in files and folders, by path.
func manifestsOfKind(paths []string, kind string) (map[string]object, error) {
	found := map[string]object{}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var typed struct {
				Kind string `json:"kind"`
			}
			if err := yaml.Unmarshal(text, &typed); err != nil {
				return fmt.Errorf("failed to decode %s: %w", file, err)
			}
			if typed.Kind == kind {
				found[file], err = readObject(file)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("--rendered-manifest-files, could not be read: %w", err)
		}
	}
	return found, nil
}

// readFeatureGates returns "<name>=true" of all enabled gates, then "<name>=false" of all others,
// of the FeatureGate's entry for this version.
func readFeatureGates(args arguments) ([]string, error) {
	version := args.of("payload-version")
	if version == "" {
		return nil, fmt.Errorf("cannot return FeatureGate without payload version")
	}
	folders := args.list("rendered-manifest-files")
	if len(folders) == 0 {
		return nil, fmt.Errorf("cannot return FeatureGate without rendered manifests")
	}
	manifests, err := manifestsOfKind(folders, "FeatureGate")
	if err != nil {
		return nil, err
	}
	var found *object
	for path, manifest := range manifests {
		if found != nil && !reflect.DeepEqual(*found, manifest) {
			return nil, fmt.Errorf("FeatureGate manifests disagree: %s and another", path)
		}
		found = &manifest
	}
	if found == nil {
		return nil, fmt.Errorf("no FeatureGates found in manifest dir: %v", folders)
	}
	for _, entry := range found.Status.FeatureGates {
		if entry.Version == version {
			return append(gates(entry.Enabled, "=true"), gates(entry.Disabled, "=false")...), nil
		}
	}
	return nil, fmt.Errorf("missing desired version %q in featuregates.config.openshift.io/cluster", version)
}

// gates appends a value to the names, in their order.
func gates(list []featureGate, value string) []string {
	var names []string
	for _, gate := range list {
		names = append(names, gate.Name)
	}
	slices.Sort(names)
	for index := range names {
		names[index] += value
	}
	return names
}

// networks are the address ranges of a cluster.
type networks struct {
	Pods     []string
	Services []string
}

func readNetworks(path string) (networks, error) {
	var read networks
	manifest, err := readKind(path, "Network")
	if err != nil {
		return read, err
	}
	for _, network := range manifest.Spec.ClusterNetwork {
		read.Pods = append(read.Pods, network.CIDR)
	}
	read.Services = manifest.Spec.ServiceNetwork
	return read, nil
}

// installConfig has what the stand-ins read of install-config.yaml.
type installConfig struct {
	BootstrapInPlace map[string]any `json:"bootstrapInPlace"`
	ControlPlane     struct {
		Replicas int `json:"replicas"`
	} `json:"controlPlane"`
	Networking struct {
		MachineNetwork []struct {
			CIDR string `json:"cidr"`
		} `json:"machineNetwork"`
	} `json:"networking"`
}

// readInstallConfig reads the ConfigMap cluster-config-v1.
func readInstallConfig(path string) (installConfig, error) {
	var config installConfig
	manifest, err := readKind(path, "ConfigMap")
	if err != nil {
		return config, err
	}
	text, found := manifest.Data["install-config"]
	if !found {
		return config, fmt.Errorf("install-config not found in %s", path)
	}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return config, fmt.Errorf("failed to decode the install-config in %s: %w", path, err)
	}
	return config, nil
}
