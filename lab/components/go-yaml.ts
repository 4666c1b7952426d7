import { join } from 'node:path';
import type { Component } from './component.ts';
import { buildGoBinaries } from './go-build.ts';

const module = join(import.meta.dirname, 'go-yaml');

/** Reads a JSON array of texts, answers with what each is for kubectl. */
export const GO_YAML_PROGRAM = 'go-yaml';

/** sigs.k8s.io/yaml and apimachinery's decoder, of the versions of the kubernetes component. */
export const goYaml: Component = {
  name: 'go-yaml',
  version: '1.6.0',
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      { module, packages: { '.': GO_YAML_PROGRAM }, deadlineMs: 10 * 60_000 },
      context,
    ),
};
