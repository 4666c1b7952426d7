import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';
import { KUBERNETES_VERSION } from './versions.ts';

export const e2eTestModule = join(import.meta.dirname, 'e2e-test');

/** What runs the tests, and the programs of their images. */
export const e2ePrograms = {
  'github.com/onsi/ginkgo/v2/ginkgo': 'ginkgo',
  'k8s.io/kubernetes/test/images/agnhost': 'agnhost',
  'k8s.io/kubernetes/test/images/nonewprivs': 'nnp',
  'k8s.io/sample-apiserver': 'sample-apiserver',
};

/**
 * Kubernetes' end-to-end tests: `e2e.test`, the `ginkgo` that runs it in several processes, and
 * the programs of the images that it uses. Of the version of the cluster.
 */
export const e2eTest: Component = {
  name: 'e2e-test',
  version: KUBERNETES_VERSION,
  recipe: [import.meta.filename, e2eTestModule],
  build: (target, context) => {
    const stamp = 'k8s.io/component-base/version';
    const [major, minor] = KUBERNETES_VERSION.split('.');
    return buildGoBinaries(
      target,
      {
        module: e2eTestModule,
        packages: e2ePrograms,
        tests: { 'k8s.io/kubernetes/test/e2e': 'e2e.test' },
        // Tests of pod security look for the fixtures of this minor version.
        ldflags: [
          `-X ${stamp}.gitVersion=v${KUBERNETES_VERSION}`,
          `-X ${stamp}.gitMajor=${major} -X ${stamp}.gitMinor=${minor}`,
        ],
        deadlineMs: 40 * 60_000,
      },
      context,
    );
  },
};
