import { copyFile, cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Minor } from '../../lib/base/minor.ts';
import { readTree } from '../../lib/render/openshift/read-tree.ts';
import { stagesIn } from '../../lib/render/openshift/stage.ts';
import { STAGES } from '../../lib/render/openshift/stages.ts';
import { applyCopies, filesBelow } from '../../lib/render/openshift/tree.ts';
import type { Rendered } from '../../lib/render/renderer.ts';

export interface Reference {
  /** Folder as `/opt/openshift` is after all stages of the shell flow. */
  readonly folder: string;
  readonly version: Minor;
  /** `/opt/openshift` of the host: its keys and kubeconfigs stand in for those of the reference. */
  readonly assets: string;
}

/** Stages that write nothing for the reference's cluster. */
const WITHOUT_RESULTS = 'cmdbootline-nto-bootstrap';

/** What the product makes of a tree that the release's own operators have rendered. */
export async function readReference(
  { folder, version, assets }: Reference,
  work: string,
): Promise<Rendered> {
  const tree = { assets: join(work, 'assets'), host: join(work, 'host') };
  for (const name of ['tls', 'auth']) {
    await cp(join(assets, name), join(tree.assets, name), { recursive: true });
  }
  const stages = stagesIn(version, STAGES);
  const made = new Set<string>();
  for (const { from, to } of stages.flatMap(({ copies }) => copies)) {
    if (to !== 'manifests' || from === undefined) continue;
    for (const file of await filesBelow(join(folder, from))) made.add(file);
  }
  // What no stage makes is openshift-install's.
  for (const name of ['manifests', 'openshift']) {
    for (const file of await filesBelow(join(folder, name))) {
      if (made.has(file)) continue;
      const target = join(tree.assets, 'manifests', file);
      await mkdir(dirname(target), { recursive: true });
      await copyFile(join(folder, name, file), target);
    }
  }
  for (const stage of stages.filter(({ name }) => name !== WITHOUT_RESULTS)) {
    await applyCopies(stage, folder, tree);
  }
  return readTree(tree);
}

/**
 * Everything that was rendered, by a path in one tree: `manifests/NAME`, `pods/FILE`, and the path on
 * the host. The machine-config controller's copies of manifests are left out.
 */
export function treeOf({ manifests, staticPods, files }: Rendered): Map<string, string> {
  const texts = new Map<string, string>([
    ...manifests.map(({ name, contents }) => [`manifests/${name}`, contents] as const),
    ...staticPods.map(({ file, manifest }) => [`pods/${file}`, manifest] as const),
  ]);
  const copies = '/etc/mcc/bootstrap/';
  for (const { path, contents } of files) {
    const isCopy =
      path.startsWith(copies) && texts.get(`manifests/${path.slice(copies.length)}`) === contents;
    if (!isCopy) texts.set(path, contents);
  }
  return texts;
}
