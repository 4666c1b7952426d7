import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { serveFiles } from '../host/http-server.ts';
import { SITE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { siteHost } from '../relocation.ts';
import { readSiteResult } from '../site-arrival.ts';
import { expectSite, siteConfig } from './media.ts';
import type { ShippedNode } from './shipped-node.ts';

const NAME = 'remote';
const PORT = 8090;
const PASS_MS = 8 * 60_000;

/** The factory fixes a URL; at its site the node is switched on, and nobody touches it. */
export async function byUrl(run: ShippedNode): Promise<string> {
  const { folder, signal, teardown } = run.context;
  const served = join(folder, 'sites');
  await mkdir(served);
  const { image } = await run.createVolume('ISO', { config: siteConfig(NAME) });
  // As the name of a file: the host's first identifier is its address on the link.
  await copyFile(image, join(served, `${siteHost.mac.replaceAll(':', '-')}.site`));
  const url = await serveFiles(served, PORT, teardown, {
    address: SITE.segments.IPv4.bridge,
  });
  await run.unseal();
  await onHost(run.booted, ['reconfigure', 'prepare', '--site-url', url], signal);
  await onHost(run.booted, ['reconfigure', 'validate'], signal);
  await run.booted.stop();
  await bootAgain(run);
  const ended = async () => {
    if ((await readSiteResult(run.booted)) === undefined) throw new Error('no site has ended');
  };
  await eventually(ended, PASS_MS, signal);
  await run.untilDone();
  await expectSite(run, NAME, await run.lastEnded());
  return 'success';
}
