import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { ensureComponent } from '../components/component.ts';
import { openshiftImages, RELEASE_IMAGE } from '../components/openshift/images.ts';
import { NODE_ADDRESS, writeBootstrapAssets } from '../openshift/bootstrap-assets.ts';
import { ImageRoots } from '../openshift/image-roots.ts';
import { requirePrograms } from '../openshift/programs.ts';
import { renderAll, requireReferences, requireRefusals } from '../openshift/render-checks.ts';
import type { Scenario } from '../scenario.ts';

/**
 * The images of the lab's OpenShift release: their programs start, and every render accepts the
 * bootstrap host's arguments and refuses wrong ones. No host is booted.
 */
export const openshiftComponents: Scenario = ({ folder, signal }) => {
  const work = join(folder, 'images');
  const assets = join(folder, 'assets');
  let roots: ImageRoots | undefined;
  const ready = async () => {
    if (roots !== undefined) return roots;
    const images = await ensureComponent(openshiftImages, { signal, report: () => undefined });
    for (const path of [work, assets]) await mkdir(path);
    await writeBootstrapAssets(assets);
    // The render of etcd looks for an address in the machine network.
    const address = ['address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'lo'];
    await run('ip', address, { signal, deadlineMs: 10_000 });
    roots = new ImageRoots({ images, work, assets });
    return roots;
  };
  return {
    host: undefined,
    agentSteps: async () => [],
    steps: [
      {
        title: 'Start the programs in their images',
        run: async (report) => requirePrograms(await ready(), report, signal),
      },
      {
        title: 'Look up images in the release',
        run: async () => requireReferences(await ready(), RELEASE_IMAGE, signal),
      },
      {
        title: 'Render with every image',
        run: async (report) => renderAll(await ready(), report, signal),
      },
      {
        title: 'Refuse wrong arguments',
        run: async (report) => report(`${await requireRefusals(await ready(), signal)} refused`),
      },
    ],
  };
};
