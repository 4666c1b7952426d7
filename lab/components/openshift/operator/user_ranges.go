package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	namespaces = "/api/v1/namespaces"
	// Annotations of a namespace, from which the security context constraints take users.
	rangeOfUsers  = "openshift.io/sa.scc.uid-range"
	rangeOfGroups = "openshift.io/sa.scc.supplemental-groups"
	labels        = "openshift.io/sa.scc.mcs"

	firstUser     = 1_000_000_000
	usersInRange  = 10_000
	allocateEvery = 2 * time.Second
)

// allocateRanges gives each namespace a range of users, as the cluster policy controller does: without
// one, the API server admits no pod that must not choose its user.
func allocateRanges(api apiClient) {
	for ; ; time.Sleep(allocateEvery) {
		if err := allocateMissing(api); err != nil {
			fmt.Println("no ranges of users are allocated:", err)
		}
	}
}

func allocateMissing(api apiClient) error {
	var list struct {
		Items []struct {
			Metadata struct {
				Name        string            `json:"name"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if err := api.read(namespaces, &list); err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, each := range list.Items {
		taken[each.Metadata.Annotations[rangeOfUsers]] = true
	}
	block := 0
	for _, each := range list.Items {
		if each.Metadata.Annotations[rangeOfUsers] != "" {
			continue
		}
		for taken[usersOf(block)] {
			block++
		}
		taken[usersOf(block)] = true
		if err := annotate(api, each.Metadata.Name, block); err != nil {
			return err
		}
	}
	return nil
}

func annotate(api apiClient, namespace string, block int) error {
	users := usersOf(block)
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		rangeOfUsers:  users,
		rangeOfGroups: users,
		// Two categories for each block, which no other has.
		labels: fmt.Sprintf("s0:c%d,c%d", 2*block+1, 2*block),
	}}})
	if err != nil {
		return err
	}
	path := strings.Join([]string{namespaces, namespace}, "/")
	status, answer, err := api.call(http.MethodPatch, path, "application/merge-patch+json", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: %d %.200s", namespace, status, answer)
	}
	return err
}

func usersOf(block int) string {
	return fmt.Sprintf("%d/%d", firstUser+block*usersInRange, usersInRange)
}
