import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import type { Component } from './component.ts';
import { debootstrap } from './debootstrap.ts';
import { writeTreeLayer } from './image-tree.ts';

/** What deploy/fleet/Containerfile installs, and its user: `sno` runs them to write and to sign volumes. */
const PACKAGES = ['ca-certificates', 'openssh-client', 'xorriso'];

export const WORKER_LAYER = { tar: 'layer.tar', digest: 'layer.sha256' } as const;

/** The lower layer of the image in which `sno fleet` runs on a hub; `sno` is the other one. */
export const fleetWorkerBase: Component = {
  name: 'fleet-worker-base',
  version: 'bookworm',
  recipe: [import.meta.filename],
  build: async (target, { signal }) => {
    const tree = join(target, 'layer');
    await debootstrap(tree, PACKAGES, signal);
    await appendFile(join(tree, 'etc/passwd'), 'sno:x:65532:65532::/:/usr/sbin/nologin\n');
    await appendFile(join(tree, 'etc/group'), 'sno:x:65532:\n');
    const tar = await writeTreeLayer(tree, signal);
    await rm(tree, { recursive: true });
    const digest = (await sha256OfFiles([tar], signal)).get(tar) ?? '';
    await writeFile(join(target, WORKER_LAYER.digest), digest);
  },
};
