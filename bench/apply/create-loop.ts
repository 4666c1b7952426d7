import { join } from 'node:path';
import type { Component } from '../../lab/components/component.ts';
import { buildGoBinaries } from '../../lab/components/go-build.ts';

const module = join(import.meta.dirname, 'create-loop');

/** The library-go and client-go that cluster-bootstrap e6be0fdfbf43 (2026-04) is built with. */
export const CREATE_LOOP_VERSIONS = { 'library-go': 'c515269de16e', 'client-go': '0.27.4' };

/**
 * The shell flow's own code to create manifests: bootkube.sh runs `cluster-bootstrap
 * start`, which calls `EnsureManifestsCreated` of openshift/library-go
 * (pkg/assets/create/creater.go), called here from a main of a few lines.
 *
 * It loads every file, and then makes a pass over what is not created yet, every 200 ms until
 * nothing is left: in lexical order of the files, sequentially, a GET, and a POST if it
 * found nothing. An unknown kind is looked up again in the next pass, by a discovery of
 * the complete API. The client has client-go's default limit of 5 requests a second after
 * a burst of 10, because its callers set no other.
 */
export const createLoop: Component = {
  name: 'create-loop',
  version: CREATE_LOOP_VERSIONS['library-go'],
  recipe: [import.meta.filename, module],
  build: (target, context) =>
    buildGoBinaries(
      target,
      { module, packages: { '.': 'create-loop' }, deadlineMs: 10 * 60_000 },
      context,
    ),
};
