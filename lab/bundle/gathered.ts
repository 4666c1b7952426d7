import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import type { LabContext } from '../scenario.ts';
import { type Collecting, collectBundle } from './collect.ts';
import { type Expected, expectBundle } from './expect.ts';
import { layout } from './layout.ts';
import { expectNoSecrets } from './secrets.ts';

const { always, containers, etcd, api } = layout.installed;

/** Contents of a bundle from a finished, healthy cluster, without failing findings. */
export const finishedCluster: Expected = { paths: [...always, ...containers, ...etcd, ...api] };

/** Collects a bundle with this command and compares it with the state of the host. */
export async function gathered(
  host: Host,
  { command, id, archive }: Omit<Collecting, 'folder' | 'out'>,
  expected: Expected,
  { folder, out, signal }: Pick<LabContext, 'folder' | 'out' | 'signal'>,
): Promise<number> {
  const collecting = { command, id, folder: join(folder, 'bundles', id), out };
  const bundle = await collectBundle(
    host,
    archive === undefined ? collecting : { ...collecting, archive },
    signal,
  );
  await expectBundle(bundle, expected);
  await expectNoSecrets(host, bundle.folder, signal);
  return bundle.seconds;
}
