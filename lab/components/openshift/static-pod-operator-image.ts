import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFiles } from '../../../lib/host/digests.ts';
import { writeImageArchive } from '../../../lib/image/write.ts';
import type { Component } from '../component.ts';
import { addProgram, imageConfig, writeTreeLayer } from '../image-tree.ts';
import { BASE_LAYER, openshiftBase } from './base.ts';
import { imageReference } from './release.ts';
import { STATIC_POD_OPERATOR, staticPodOperator } from './static-pod-operator.ts';

/** Name of the archive in the component. */
export const STATIC_POD_OPERATOR_ARCHIVE = `${STATIC_POD_OPERATOR}.tar`;

/**
 * The image of the static pod operators, as an archive. It is not one of the release's images: a
 * release has an image for each operator, whose `render` is a stand-in here (images.ts).
 */
export const staticPodOperatorImage: Component = {
  name: 'openshift-static-pod-operator-image',
  version: '4.21',
  recipe: [
    import.meta.filename,
    join(import.meta.dirname, 'release.ts'),
    join(import.meta.dirname, '../image-tree.ts'),
  ],
  needs: [staticPodOperator, openshiftBase],
  build: async (target, { folderOf, signal }) => {
    const tree = join(target, '.tree');
    await mkdir(tree);
    const program = join(folderOf(staticPodOperator), STATIC_POD_OPERATOR);
    await addProgram(program, join(tree, 'usr/bin', STATIC_POD_OPERATOR));
    const paths = [join(folderOf(openshiftBase), BASE_LAYER), await writeTreeLayer(tree, signal)];
    const digests = await sha256OfFiles(paths, signal);
    const layers = paths.map((path) => ({ path, diffId: digests.get(path) ?? '' }));
    const config = imageConfig({ Entrypoint: [`/usr/bin/${STATIC_POD_OPERATOR}`] }, layers);
    const image = { reference: imageReference(STATIC_POD_OPERATOR), config, layers };
    await writeImageArchive(join(target, STATIC_POD_OPERATOR_ARCHIVE), image, signal);
    await rm(tree, { recursive: true });
    await rm(`${tree}.tar`);
  },
};
