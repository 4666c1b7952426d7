package main

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// ensureConfiguration creates the operator's configuration if there is none. In a release, the
// cluster-version operator creates it, and never changes it afterwards.
func ensureConfiguration(ctx context.Context, config *rest.Config, target component) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": operatorv1.GroupVersion.String(),
		"kind":       target.kind,
		"metadata":   map[string]any{"name": "cluster"},
		"spec": map[string]any{
			"managementState":  string(operatorv1.Managed),
			"logLevel":         string(operatorv1.Normal),
			"operatorLogLevel": string(operatorv1.Normal),
		},
	}}
	resource := client.Resource(operatorv1.GroupVersion.WithResource(target.resource))
	_, err = resource.Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
