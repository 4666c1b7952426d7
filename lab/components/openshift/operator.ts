import { join } from 'node:path';
import type { Component } from '../component.ts';
import { buildGoBinaries } from '../go-build.ts';

const module = join(import.meta.dirname, 'operator');

/** One program that stands in for the operators; it acts by the name it is started with. */
export const standInOperator: Component = {
  name: 'openshift-operator',
  version: '4.21',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        module,
        packages: { 'sno-agents.lab/openshift-operator': 'operator' },
        deadlineMs: 5 * 60_000,
      },
      context,
    ),
};
