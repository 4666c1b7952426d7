import { link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from '../lib/host/copy.ts';
import type { AgentSettings } from './agent-settings.ts';
import { OS_IMAGE } from './components/os-image.ts';
import { quickly } from './host/command.ts';
import { type ServerOptions, serveFiles } from './host/http-server.ts';
import { type CreatedInstallation, createdIn, runCreate } from './install-config.ts';
import { serveNetBoot } from './machine/net-boot.ts';
import { ownArguments } from './own-inputs.ts';
import { executable } from './paths.ts';
import type { LabContext } from './scenario.ts';
import { DISK } from './site.ts';

const PORT = 8080;

export interface Served {
  /** What is served; files can be added. */
  readonly folder: string;
  readonly url: string;
  /** Options of `sno create`. */
  readonly options: readonly string[];
}

/**
 * Serves the executable and the payload from a web server at the site. Paths of `server` are on it, such as
 * `/payload/images/etcd.tar`.
 */
export async function serveProduct(
  { components, folder, teardown, signal }: LabContext,
  server: Pick<ServerOptions, 'damaged' | 'once'> = {},
): Promise<Served> {
  const served = join(folder, 'served');
  await mkdir(served);
  await copyFile(executable, join(served, 'sno-agents'), 0o644, signal);
  // Hard-linked, not copied: the cache is on the same file system and only read.
  await quickly('cp', ['-rl', components.payload, join(served, 'payload')], signal);
  const url = await serveFiles(served, PORT, teardown, server);
  const options = [
    ...['--agents-url', `${url}/sno-agents`],
    ...['--payload-url', `${url}/payload`, '--payload', components.payload],
  ];
  return { folder: served, url, options };
}

/** An installation whose live host has no medium: the OS image comes from that server, too, and what a machine boots. */
export async function serveInstallation(
  context: LabContext,
  installation: string,
  settings: AgentSettings,
  damaged?: string,
): Promise<CreatedInstallation> {
  const { folder, url, options } = await serveProduct(context, { damaged });
  await link(join(context.components.osImage, OS_IMAGE), join(folder, OS_IMAGE));
  await runCreate('single-node-ignition-config', installation, {
    installer: `--insecure --image-url ${url}/${OS_IMAGE} ${DISK}`,
    options: [...options, ...(await ownArguments(context.folder, settings))],
    signal: context.signal,
  });
  const created = createdIn(installation);
  if (context.hosts.are === 'machines') {
    await serveNetBoot(context, { folder, url, ignition: created.ignition });
  }
  return created;
}
