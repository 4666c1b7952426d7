package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/openshift/library-go/pkg/operator/resource/resourcemerge"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// staticPod makes a component's static pod as the operator installs it: the rendered pod with another
// name, in the operand's namespace, with its revision, and with the files of that revision.
func staticPod(folder string, target component, data podData) (string, error) {
	text, err := execute(filepath.Join(folder, target.template), data)
	if err != nil {
		return "", err
	}
	// etcd's rendered pod has no parameter for its files.
	certificates := fmt.Sprintf("/etc/kubernetes/static-pod-resources/%s-REVISION", target.manifest)
	text = strings.NewReplacer(
		"/etc/kubernetes/static-pod-resources/etcd-member", certificates,
		"/etc/ssl/etcd/ca.crt", "/etc/ssl/etcd/configmaps/etcd-ca-bundle/ca-bundle.crt",
		"/etc/ssl/etcd/etcd-all-certs", "/etc/ssl/etcd/secrets/etcd-all-certs",
	).Replace(text)
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(text), &pod); err != nil {
		return "", fmt.Errorf("%s: %w", target.template, err)
	}
	pod.Name, pod.Namespace = target.pod, target.namespace
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["app"], pod.Labels["revision"] = target.pod, "REVISION"
	waitForPorts(&pod, target, data.Image)
	pod.Spec.PriorityClassName = "system-node-critical"
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	// Not as YAML, in which the number that replaces REVISION would not be a string.
	written, err := json.Marshal(pod)
	return string(written), err
}

// waitForPorts lets the pod start when nothing listens on its ports of the host: the pod that is replaced
// may still be ending, and has another name if it is the bootstrap's. etcd waits in its own script, as in
// OpenShift: without a database every request takes half a minute to fail, and the kubelet makes one
// before each of a pod's init containers.
func waitForPorts(pod *corev1.Pod, target component, image string) {
	var sources []string
	for _, port := range target.ports {
		sources = append(sources, fmt.Sprintf("sport = :%d", port))
	}
	wait := fmt.Sprintf(`while [ -n "$(ss -Hltn '( %s )')" ]; do sleep 0.2; done`, strings.Join(sources, " or "))
	for index := range pod.Spec.Containers {
		container := &pod.Spec.Containers[index]
		if container.Name == target.pod && len(container.Command) == 3 && container.Command[1] == "-c" {
			container.Command[2] = wait + "\n" + container.Command[2]
			return
		}
	}
	pod.Spec.InitContainers = append([]corev1.Container{{
		Name:                     "wait-for-ports",
		Image:                    image,
		Command:                  []string{"/usr/bin/timeout", "180", "/bin/bash", "-ec"},
		Args:                     []string{wait},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}}, pod.Spec.InitContainers...)
}

// configuration makes the files of the ConfigMap "config", by name, with the observed configuration. A
// component without configuration has none.
func configuration(folder string, target component, data podData, observed []byte) (map[string]string, error) {
	files := map[string]string{}
	for name, file := range target.configFiles {
		text, err := execute(filepath.Join(folder, file.template), data)
		if err != nil {
			return nil, err
		}
		merged, err := resourcemerge.MergePrunedProcessConfig(file.schema, nil, []byte(text), observed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.template, err)
		}
		files[name] = string(merged)
	}
	return files, nil
}

// extendedArguments are a configuration's arguments as a command line has them.
func extendedArguments(config string) ([]string, error) {
	var read struct {
		ExtendedArguments map[string][]string `json:"extendedArguments"`
	}
	if err := yaml.Unmarshal([]byte(config), &read); err != nil {
		return nil, err
	}
	if len(read.ExtendedArguments) == 0 {
		return nil, errors.New("the configuration has no extendedArguments")
	}
	var list []string
	for name, values := range read.ExtendedArguments {
		for _, value := range values {
			list = append(list, fmt.Sprintf("--%s=%s", name, value))
		}
	}
	slices.Sort(list)
	return list, nil
}

func execute(file string, data podData) (string, error) {
	contents, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	parsed, err := template.New(file).Option("missingkey=error").Parse(string(contents))
	if err != nil {
		return "", err
	}
	var written bytes.Buffer
	if err := parsed.Execute(&written, data); err != nil {
		return "", err
	}
	return written.String(), nil
}
