import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { ensureComponent } from '../components/component.ts';
import { openshiftImages, RELEASE_IMAGE } from '../components/openshift/images.ts';
import { NODE_ADDRESS, writeBootstrapAssets } from '../openshift/bootstrap-assets.ts';
import { ImageRoots } from '../openshift/image-roots.ts';
import { serveMasterIgnition } from '../openshift/machine-config.ts';
import { requirePrograms } from '../openshift/programs.ts';
import { renderAll, requireReferences, requireRefusals } from '../openshift/render-checks.ts';
import { requireStaticPodOperator } from '../openshift/static-pod-operator.ts';
import type { Scenario } from '../scenario.ts';
import type { Daemon } from '../servers/daemon.ts';

/**
 * The images of the lab's OpenShift release: their programs start, every render accepts the
 * bootstrap host's arguments and refuses wrong ones, and the machine-config server serves what
 * was rendered. No host is booted: containers are processes in the file systems of their images.
 */
export const openshiftComponents: Scenario = ({ folder, out, teardown, signal }) => {
  const work = join(folder, 'images');
  const assets = join(folder, 'assets');
  let roots: ImageRoots | undefined;
  const ready = async () => {
    if (roots !== undefined) return roots;
    const images = await ensureComponent(openshiftImages, { signal, report: () => undefined });
    for (const path of [work, assets]) await mkdir(path);
    await writeBootstrapAssets(assets);
    // The render of etcd looks for an address in the machine network.
    for (const change of [
      ['link', 'set', 'lo', 'up'],
      ['address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'lo'],
    ]) {
      await run('ip', change, { signal, deadlineMs: 10_000 });
    }
    roots = new ImageRoots({ images, work, assets });
    return roots;
  };
  const podOptions = async () => ({
    roots: await ready(),
    host: join(folder, 'host'),
    logs: out,
    signal,
  });
  const started = (daemons: readonly Daemon[]) => {
    for (const daemon of daemons) teardown.add('stop a container', () => daemon.stop());
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
        title: 'Start the static pod operators in their image',
        run: async () => requireStaticPodOperator(await ready(), signal),
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
      {
        title: 'Serve the Ignition config of the master',
        run: async (report) => {
          const files = await serveMasterIgnition(await podOptions(), started);
          report(`${files} files`);
        },
      },
    ],
  };
};
