import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from '../lib/host/copy.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { quickly } from './host/command.ts';
import { serveFiles } from './host/http-server.ts';
import { type CreatedInstallation, createdIn, runCreate } from './install-config.ts';
import { executable } from './paths.ts';
import type { LabContext } from './scenario.ts';
import { DISK } from './site.ts';

const PORT = 8080;

/**
 * An installation whose live host has no medium: executable, payload and OS image come from a
 * web server at the site. `damaged` is a path on it that is served with one byte changed,
 * such as `/payload/images/etcd.tar`.
 */
export async function serveInstallation(
  { components, folder, teardown, signal }: LabContext,
  installation: string,
  damaged?: string,
): Promise<CreatedInstallation> {
  const served = join(folder, 'served');
  await mkdir(served);
  await copyFile(executable, join(served, 'sno-agents'), 0o644, signal);
  // Hard-linked, not copied: the cache is on the same file system and only read.
  await quickly('cp', ['-rl', components.payload, join(served, 'payload')], signal);
  await link(join(components.osImage, OS_IMAGE), join(served, OS_IMAGE));
  const url = await serveFiles(served, PORT, teardown, damaged);
  await runCreate('single-node-ignition-config', installation, {
    installer: `--insecure --image-url ${url}/${OS_IMAGE} ${DISK}`,
    options: [
      ...['--agents-url', `${url}/sno-agents`],
      ...['--payload-url', `${url}/payload`, '--payload', components.payload],
    ],
    signal,
  });
  return createdIn(installation);
}
