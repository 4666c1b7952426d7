package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"sigs.k8s.io/yaml"
)

const (
	releaseManifests = "/release-manifests"
	imageReferences  = releaseManifests + "/image-references"
	releaseFolder    = "/manifests"
)

// printImage prints the reference of an image of the release.
func printImage(arguments []string) error {
	_, names, err := parse(arguments)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("missing command line argument short-name")
	}
	text, err := os.ReadFile(imageReferences)
	if err != nil {
		return err
	}
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct {
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &stream); err != nil {
		return err
	}
	for _, tag := range stream.Spec.Tags {
		if tag.Name == names[0] {
			fmt.Print(tag.From.Name)
			return nil
		}
	}
	return fmt.Errorf("image for %s not found", names[0])
}

// renderClusterVersion writes the operator's own manifests and its static pod.
func renderClusterVersion(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "output-dir", required: true},
		{name: "release-image", required: true},
		{name: "feature-gate-manifest-path"},
	})
	if err != nil {
		return err
	}
	if _, err := os.Stat(imageReferences); err != nil {
		return err
	}
	if file := args.of("feature-gate-manifest-path"); file != "" {
		gate, err := readKind(file, "FeatureGate")
		if err != nil {
			return err
		}
		if gate.Spec.FeatureSet != "" {
			return fmt.Errorf("the stand-in renders the default feature set only, not %s", gate.Spec.FeatureSet)
		}
	}
	profile, set := os.LookupEnv("CLUSTER_PROFILE")
	if !set {
		profile = "self-managed-high-availability"
	}
	data := map[string]string{"ReleaseImage": args.of("release-image"), "Profile": profile}
	folder := args.of("output-dir")
	if err := executeTemplates("cluster-version", folder, data, nil); err != nil {
		return err
	}
	return copyDefinitions(releaseFolder, "*.crd.yaml", filepath.Join(folder, "manifests"), nil)
}

// startClusterVersion is the operator. Of the release that it would apply it creates what the manifests
// of the release image have: what other operators' rendered manifests need, and the operators of the
// static pods. With a kubeconfig it is the bootstrap's static pod; without one it is the pod of the
// cluster, which also reports the version.
func startClusterVersion(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "release-image", required: true},
		{name: "enable-auto-update"},
		{name: "listen"},
		{name: "serving-cert-file"},
		{name: "serving-key-file"},
		{name: "always-enable-capabilities"},
		{name: "v"},
		{name: "kubeconfig"},
	})
	if err != nil {
		return err
	}
	files, err := releaseFiles()
	if err != nil {
		return err
	}
	fmt.Println("stand-in for the cluster-version operator: manifests of the release are created, never updated")
	if kubeconfig := args.of("kubeconfig"); kubeconfig != "" {
		api, err := clientOf(kubeconfig)
		if err != nil {
			return err
		}
		go createUntilAllExist(api, files)
	} else {
		api, err := clientInPod()
		if err != nil {
			return err
		}
		version, names, err := releaseContents(files)
		if err != nil {
			return err
		}
		go createUntilAllExist(api, files)
		go reportVersion(api, args.of("release-image"), version, names)
	}
	untilStopped()
	return nil
}

// releaseContents returns the version of the release and the names of its ClusterOperators.
func releaseContents(files []string) (string, []string, error) {
	var metadata struct {
		Version string `json:"version"`
	}
	text, err := os.ReadFile(filepath.Join(releaseManifests, "release-metadata"))
	if err != nil {
		return "", nil, err
	}
	if err := yaml.Unmarshal(text, &metadata); err != nil {
		return "", nil, err
	}
	var names []string
	for _, file := range files {
		manifest, err := readObject(file)
		if err != nil {
			return "", nil, err
		}
		if manifest.Kind == "ClusterOperator" {
			names = append(names, manifest.Metadata.Name)
		}
	}
	return metadata.Version, names, nil
}

func untilStopped() {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	<-stopped
}
