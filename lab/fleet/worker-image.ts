import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { writeImageArchive } from '../../lib/payload/image/write.ts';
import { ensureComponent } from '../components/component.ts';
import { fleetWorkerBase, WORKER_LAYER } from '../components/fleet-worker-base.ts';
import { addProgram, imageConfig, writeTreeLayer } from '../components/image-tree.ts';
import { cli } from '../paths.ts';
import type { LabContext } from '../scenario.ts';

/** No registry has it: it must be in the store of the host. */
export const WORKER_IMAGE = 'lab.example/sno-fleet:lab';

/** Writes the image of deploy/fleet/Containerfile with the `sno` of this run, as a docker archive. */
export async function writeWorkerImage(
  folder: string,
  { components, signal }: Pick<LabContext, 'components' | 'signal'>,
): Promise<string> {
  const base = await ensureComponent(fleetWorkerBase, { signal, report: () => undefined });
  const tree = join(folder, 'worker');
  await mkdir(folder, { recursive: true });
  await addProgram(cli, join(tree, 'usr/local/bin/sno'));
  const installer = 'coreos-installer';
  await addProgram(
    join(components.coreosInstaller, installer),
    join(tree, 'usr/local/bin', installer),
  );
  const own = await writeTreeLayer(tree, signal);
  const layers = [
    {
      path: join(base, WORKER_LAYER.tar),
      diffId: await readFile(join(base, WORKER_LAYER.digest), 'utf8'),
    },
    { path: own, diffId: (await sha256OfFiles([own], signal)).get(own) ?? '' },
  ];
  const archive = join(folder, 'worker-image.tar');
  const config = imageConfig({ Entrypoint: ['/usr/local/bin/sno'], User: '65532:65532' }, layers);
  await writeImageArchive(archive, { reference: WORKER_IMAGE, config, layers }, signal);
  return archive;
}
