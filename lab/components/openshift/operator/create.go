package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// collections has the API's path of each kind of a release that the stand-in creates; "%s" is the
// namespace.
var collections = map[string]string{
	"ClusterOperator":          "/apis/config.openshift.io/v1/clusteroperators",
	"ClusterRoleBinding":       "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"Deployment":               "/apis/apps/v1/namespaces/%s/deployments",
	"Namespace":                "/api/v1/namespaces",
	"ServiceAccount":           "/api/v1/namespaces/%s/serviceaccounts",
}

// releaseFiles are the manifests of the release, in the order in which they are created.
func releaseFiles() ([]string, error) {
	return filepath.Glob(filepath.Join(releaseManifests, "*.yaml"))
}

// createUntilAllExist creates the objects of manifests, again and again until each of them exists.
func createUntilAllExist(api apiClient, files []string) {
	for _, file := range files {
		for {
			err := create(api, file)
			if err == nil {
				break
			}
			fmt.Println("not created yet:", err)
			time.Sleep(time.Second)
		}
	}
}

func create(api apiClient, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var manifest object
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		return err
	}
	collection, known := collections[manifest.Kind]
	if !known {
		return fmt.Errorf("%s has the unknown kind %q", file, manifest.Kind)
	}
	if manifest.Metadata.Namespace != "" {
		collection = fmt.Sprintf(collection, manifest.Metadata.Namespace)
	}
	status, answer, err := api.call(http.MethodPost, collection, "application/yaml", text)
	if err != nil {
		return err
	}
	if status == http.StatusCreated || status == http.StatusConflict {
		return nil
	}
	return fmt.Errorf("%s: %d %.200s", filepath.Base(file), status, answer)
}
