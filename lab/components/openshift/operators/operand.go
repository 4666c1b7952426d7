package main

import (
	"context"
	"time"

	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/resource/resourcemerge"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

const observeEvery = 5 * time.Second

// operand keeps the objects of which a revision is made: the static pod, its configuration and its
// credentials.
type operand struct {
	component
	observer
	operator v1helpers.StaticPodOperatorClient
	recorder events.Recorder
	// templates is the folder of the renders' templates.
	templates string
}

func (o operand) run(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if err := o.sync(ctx); err != nil {
			klog.Warningf("%s: the objects of the next revision are not complete: %v", o.name, err)
		}
	}, observeEvery)
}

// sync writes credentials first and the pod last: there is no revision without it.
func (o operand) sync(ctx context.Context) error {
	spec, _, _, err := o.operator.GetStaticPodOperatorState()
	if err != nil {
		return err
	}
	seen := spec.ObservedConfig.Raw
	if len(o.required) > 0 {
		if err := resourcemerge.IsRequiredConfigPresent(seen, o.required); err != nil {
			return err
		}
	}
	data, err := o.observe(ctx, o.component)
	if err != nil {
		return err
	}
	if err := o.ensureSecrets(ctx); err != nil {
		return err
	}
	config, err := configuration(o.templates, o.component, data, seen)
	if err != nil {
		return err
	}
	if len(config) > 0 {
		if err := o.applyConfigMap(ctx, "config", config); err != nil {
			return err
		}
	}
	if o.extended {
		if data.Arguments, err = extendedArguments(config["config.yaml"]); err != nil {
			return err
		}
	}
	pod, err := staticPod(o.templates, o.component, data)
	if err != nil {
		return err
	}
	return o.applyConfigMap(ctx, o.manifest, map[string]string{"pod.yaml": pod})
}

// ensureSecrets creates the Secrets with keys once: they are not rotated.
func (o operand) ensureSecrets(ctx context.Context) error {
	for name, contents := range o.credentials {
		_, err := o.kube.CoreV1().Secrets(o.namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		infrastructure, err := o.config.ConfigV1().Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		network, err := o.config.ConfigV1().Networks().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		at, err := addressesOf(infrastructure, network.Spec.ServiceNetwork)
		if err != nil {
			return err
		}
		keys := &keyring{ctx: ctx, kube: o.kube}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}, Data: contents(keys, at)}
		if keys.err != nil {
			return keys.err
		}
		if _, err := o.kube.CoreV1().Secrets(o.namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (o operand) applyConfigMap(ctx context.Context, name string, data map[string]string) error {
	_, _, err := resourceapply.ApplyConfigMap(ctx, o.kube.CoreV1(), o.recorder, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name},
		Data:       data,
	})
	return err
}
