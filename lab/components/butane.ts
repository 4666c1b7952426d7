import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'butane');

/** Reads a JSON array of configs, answers with what Ignition reports of each. */
export const IGNITION_REPORTS = 'ignition-reports';

/** CoreOS's own translator of Butane configs, and what the Ignition that it is made of says about a config. */
export const butane: Component = {
  name: 'butane',
  version: '0.25.1',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      {
        ...{ module, deadlineMs: 10 * 60_000 },
        packages: { 'github.com/coreos/butane/internal': 'butane', '.': IGNITION_REPORTS },
      },
      context,
    ),
};
