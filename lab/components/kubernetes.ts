import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

/**
 * 1.34 is the newest minor that still runs on cgroup v1. go.mod replaces the staging
 * modules of k8s.io/kubernetes by the same-numbered released ones.
 */
export const KUBERNETES_VERSION = '1.34.4';
export const kubernetesModule = join(import.meta.dirname, 'kubernetes');

const programs = [
  'kubelet',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
];

export const kubernetes: Component = {
  name: 'kubernetes',
  version: KUBERNETES_VERSION,
  recipe: [import.meta.filename, kubernetesModule],
  build: (target, context) => {
    const stamp = 'k8s.io/component-base/version';
    const [major, minor] = KUBERNETES_VERSION.split('.');
    return buildGoBinaries(
      target,
      {
        module: kubernetesModule,
        packages: Object.fromEntries(
          programs.map((name) => [`k8s.io/kubernetes/cmd/${name}`, name]),
        ),
        ldflags: [
          `-X ${stamp}.gitVersion=v${KUBERNETES_VERSION}`,
          `-X ${stamp}.gitMajor=${major} -X ${stamp}.gitMinor=${minor}`,
        ],
        deadlineMs: 25 * 60_000,
      },
      context,
    );
  },
};
