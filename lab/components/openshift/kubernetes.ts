import { join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries } from '../go-build.ts';

/** Of OpenShift 4.21. Its minor version is the last that runs on cgroup v1. */
export const OPENSHIFT_KUBERNETES_VERSION = '1.34.1';
const module = join(import.meta.dirname, 'kubernetes');

/**
 * OpenShift's fork of the control plane and of the kubelet. Upstream's programs refuse the
 * configuration that OpenShift's operators render: its arguments, feature gates and node labels.
 */
export const openshiftKubernetes: Component = {
  name: 'openshift-kubernetes',
  version: OPENSHIFT_KUBERNETES_VERSION,
  recipe: [import.meta.filename, module],
  build: (target, context) => {
    const stamp = 'k8s.io/component-base/version';
    const [major, minor] = OPENSHIFT_KUBERNETES_VERSION.split('.');
    return buildGoBinaries(
      target,
      {
        module,
        packages: {
          'k8s.io/kubernetes/cmd/kube-apiserver': 'kube-apiserver',
          'k8s.io/kubernetes/cmd/kube-controller-manager': 'kube-controller-manager',
          'k8s.io/kubernetes/cmd/kube-scheduler': 'kube-scheduler',
          'k8s.io/kubernetes/cmd/kubelet': 'kubelet',
          'k8s.io/kubernetes/cmd/watch-termination': 'watch-termination',
        },
        // Without a version the fork's programs panic.
        ldflags: [
          `-X ${stamp}.gitVersion=v${OPENSHIFT_KUBERNETES_VERSION}`,
          `-X ${stamp}.gitMajor=${major} -X ${stamp}.gitMinor=${minor}`,
        ],
        temporaryCache: true,
        deadlineMs: 45 * 60_000,
      },
      context,
    );
  },
};
