package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// renderAuthentication writes the definition without which the API server's admission rejects
// RoleBindings of system users.
func renderAuthentication(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "asset-output-dir", required: true},
		{name: "rendered-manifest-dir"},
		{name: "cluster-profile"},
		{name: "payload-version"},
	})
	if err != nil {
		return err
	}
	const name = "0000_03_config-operator_01_rolebindingrestrictions.crd.yaml"
	return copyDefinitions(filepath.Join(templateFolder, "manifests"), name, args.of("asset-output-dir"),
		map[string]string{name: "authorization.openshift.io_rolebindingrestrictions.yaml"})
}

// renderConfig writes the configuration of the cloud provider; there is none on platform none.
func renderConfig(arguments []string) error {
	args, _, err := parse(arguments, manifestOptions("config"), genericOptions(), []option{
		{name: "cluster-config-file"},
		{name: "cluster-infrastructure-input-file"},
		{name: "cloud-provider-config-input-file"},
		{name: "cloud-provider-config-output-file"},
		{name: "skip-api-rendering", boolean: true},
	})
	if err != nil {
		return err
	}
	infrastructure, output := args.of("cluster-infrastructure-input-file"), args.of("cloud-provider-config-output-file")
	if (infrastructure == "") != (output == "") {
		return errors.New("--cluster-infrastructure-input-file and --cloud-provider-config-output-file must be specified together")
	}
	if _, err := os.Stat(args.of("asset-input-dir")); err != nil {
		return err
	}
	if _, err := manifestsOfKind(args.list("rendered-manifest-files"), "FeatureGate"); err != nil {
		return err
	}
	if input := args.of("cloud-provider-config-input-file"); input != "" {
		return fmt.Errorf("the stand-in renders no cloud provider's configuration: %s", input)
	}
	if infrastructure == "" {
		return nil
	}
	if _, err := readKind(infrastructure, "Infrastructure"); err != nil {
		return err
	}
	return writeObject(output, map[string]any{
		"metadata": map[string]any{
			"creationTimestamp": nil,
			"name":              "kube-cloud-config",
			"namespace":         "openshift-config-managed",
		},
	})
}

// renderIngress writes the operator's namespace and the definition of its ingress controllers.
func renderIngress(arguments []string) error {
	args, _, err := parse(arguments, []option{{name: "output-dir", required: true}, {name: "prefix"}})
	if err != nil {
		return err
	}
	folder, prefix := args.of("output-dir"), args.of("prefix")
	const name = "0000_50_ingress_00_ingresscontrollers.crd.yaml"
	if err := copyDefinitions(filepath.Join(templateFolder, "manifests"), name, folder,
		map[string]string{name: prefix + "00-custom-resource-definition.yaml"}); err != nil {
		return err
	}
	namespace, err := executeTemplate("templates/ingress/00-namespace.yaml", nil, nil)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(folder, prefix+"00-namespace.yaml"), namespace, publicMode)
}

// renderNodeTuning writes nothing, as the operator does without performance profiles.
func renderNodeTuning(arguments []string) error {
	return renderProfiles(arguments, option{name: "owner-ref"})
}

// renderBootCommandLine writes nothing, as the operator does without performance profiles.
func renderBootCommandLine(arguments []string) error {
	return renderProfiles(arguments, option{name: "mcp-name", required: true})
}

func renderProfiles(arguments []string, further option) error {
	args, _, err := parse(arguments, []option{
		{name: "asset-input-dir", required: true},
		{name: "asset-output-dir", required: true},
		further,
	})
	if err != nil {
		return err
	}
	profiles, err := manifestsOfKind(args.list("asset-input-dir"), "PerformanceProfile")
	if err != nil {
		return err
	}
	for file := range profiles {
		return fmt.Errorf("the stand-in renders no performance profile: %s", file)
	}
	return os.MkdirAll(args.of("asset-output-dir"), 0o755)
}

// renderCloudCredentials writes nothing, as the operator does where its capability is disabled.
func renderCloudCredentials(arguments []string) error {
	args, _, err := parse(arguments, []option{
		{name: "dest-dir", required: true},
		{name: "manifests-dir", required: true},
		{name: "cloud-credential-operator-image", required: true},
		{name: "log-level"},
	})
	if err != nil {
		return err
	}
	if _, err := os.ReadDir(args.of("manifests-dir")); err != nil {
		return err
	}
	return os.MkdirAll(args.of("dest-dir"), 0o755)
}
