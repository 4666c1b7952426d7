package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	clusterOperators = "/apis/config.openshift.io/v1/clusteroperators"
	clusterVersion   = "/apis/config.openshift.io/v1/clusterversions/version"
	lookEvery        = 2 * time.Second
)

type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason,omitempty"`
	Message            string `json:"message,omitempty"`
	LastTransitionTime string `json:"lastTransitionTime"`
}

type clusterOperator struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Conditions []condition `json:"conditions"`
		Versions   []struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"versions"`
	} `json:"status"`
}

// reportVersion keeps the ClusterVersion's conditions: Available once each ClusterOperator of the
// release is Available in its version and not Degraded, and as long as the version does not change.
func reportVersion(api apiClient, image, version string, names []string) {
	available := false
	for ; ; time.Sleep(lookEvery) {
		var list struct {
			Items []clusterOperator `json:"items"`
		}
		err := api.read(clusterOperators, &list)
		if err == nil {
			missing := notAvailable(list.Items, names, version)
			available = available || len(missing) == 0
			err = writeVersion(api, image, version, available, missing)
		}
		if err != nil {
			fmt.Println("the ClusterVersion is not up to date:", err)
		}
	}
}

// notAvailable names the operators that the version still waits for.
func notAvailable(found []clusterOperator, names []string, version string) []string {
	reports := map[string]clusterOperator{}
	for _, each := range found {
		reports[each.Metadata.Name] = each
	}
	var missing []string
	for _, name := range names {
		operator := reports[name]
		current := ""
		for _, each := range operator.Status.Versions {
			if each.Name == "operator" {
				current = each.Version
			}
		}
		if current != version || operator.is("Available") != "True" || operator.is("Degraded") == "True" {
			missing = append(missing, name)
		}
	}
	return missing
}

func (operator clusterOperator) is(name string) string {
	for _, each := range operator.Status.Conditions {
		if each.Type == name {
			return each.Status
		}
	}
	return ""
}

func writeVersion(api apiClient, image, version string, available bool, missing []string) error {
	var before struct {
		Metadata struct {
			Generation int64 `json:"generation"`
		} `json:"metadata"`
		Status struct {
			Conditions []condition `json:"conditions"`
		} `json:"status"`
	}
	if err := api.read(clusterVersion, &before); err != nil {
		return err
	}
	progress := "Cluster version is " + version
	if !available {
		progress = fmt.Sprintf("Working towards %s: waiting on %s", version, strings.Join(missing, ", "))
	}
	conditions := []condition{
		{Type: "Available", Status: truth(available), Message: progress},
		{Type: "Failing", Status: "False"},
		{Type: "Progressing", Status: truth(!available), Message: progress},
	}
	for index := range conditions {
		conditions[index].LastTransitionTime = since(before.Status.Conditions, conditions[index])
	}
	body, err := json.Marshal(map[string]any{"status": map[string]any{
		"availableUpdates":   []any{},
		"conditions":         conditions,
		"desired":            map[string]string{"version": version, "image": image},
		"observedGeneration": before.Metadata.Generation,
		"versionHash":        version,
	}})
	if err != nil {
		return err
	}
	status, answer, err := api.call(http.MethodPatch, clusterVersion+"/status", "application/merge-patch+json", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("PATCH: %d %.200s", status, answer)
	}
	return err
}

// since is when the condition got its status.
func since(before []condition, now condition) string {
	for _, each := range before {
		if each.Type == now.Type && each.Status == now.Status {
			return each.LastTransitionTime
		}
	}
	return time.Now().UTC().Format(time.RFC3339)
}

func truth(value bool) string {
	if value {
		return "True"
	}
	return "False"
}
