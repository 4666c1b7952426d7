import { join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries } from '../go-build.ts';
import { STATIC_POD_OPERATOR } from './release-operators.ts';

const module = join(import.meta.dirname, 'operators');

/** One program that takes over the static pods, with the controllers of OpenShift's own operators. */
export const staticPodOperator: Component = {
  name: 'openshift-static-pod-operator',
  version: '4.21',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: { 'sno-agents.lab/openshift-operators': STATIC_POD_OPERATOR },
        // With Go's own cache: the program is this project's, and each change builds it again.
        deadlineMs: 45 * 60_000,
      },
      context,
    ),
};
