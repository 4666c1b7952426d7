import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { sha256 } from '../../lib/host/files.ts';
import type { Host } from '../host/host.ts';
import { onHost } from '../host/on-host.ts';

/** Of the host: what a site changes, and what a way back has to bring back. */
const FOLDERS = ['etc', 'var/lib/kubelet/pki'] as const;
const FILES = ['var/lib/kubelet/kubeconfig'] as const;

/** Digests of the files by their paths; addresses and routes as lines. */
export type Snapshot = ReadonlyMap<string, string>;

const addressSchema = z.array(
  z.object({
    ifname: z.string(),
    addr_info: z.array(
      z.object({ local: z.string().optional(), prefixlen: z.number().optional() }),
    ),
  }),
);
const routeSchema = z.array(
  z.object({ dst: z.string(), gateway: z.string().optional(), dev: z.string().optional() }),
);
/** Made anew by the pods of each start. */
const OF_PODS = /^(veth|cni|sno0$)/;

/** What a host is now. Its pods' interfaces and routes do not count, nor do addresses of the link. */
export async function snapshotOf(host: Host, signal: AbortSignal): Promise<Snapshot> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS) {
    const entries = await readdir(join(host.rootDir, folder), {
      recursive: true,
      withFileTypes: true,
    });
    for (const entry of entries.filter((each) => each.isFile())) {
      const path = join(entry.parentPath, entry.name);
      found.set(path.slice(host.rootDir.length), sha256(await readFile(path)));
    }
  }
  for (const file of FILES) {
    found.set(`/${file}`, sha256(await readFile(join(host.rootDir, file))));
  }
  const links = addressSchema.parse(
    JSON.parse(await onHost(host, ['ip', '-json', 'address'], signal)),
  );
  for (const { ifname, addr_info } of links.filter(({ ifname }) => !OF_PODS.test(ifname))) {
    const own = addr_info
      .filter(({ local }) => local !== undefined && !local.startsWith('fe80:'))
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
    found.set(`addresses of ${ifname}`, own.toSorted().join(', '));
  }
  const routes = routeSchema.parse(
    JSON.parse(await onHost(host, ['ip', '-json', 'route'], signal)),
  );
  for (const { dst, gateway, dev } of routes.filter((route) => !OF_PODS.test(route.dev ?? ''))) {
    found.set(`route to ${dst}`, `${gateway ?? 'direct'} ${dev ?? ''}`);
  }
  return found;
}

/** @throws Failure (fatal) with everything that is not as it was */
export function expectUnchanged(before: Snapshot, after: Snapshot): void {
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => before.get(name) !== after.get(name));
  if (changed.length === 0) return;
  const shown = changed.map((name) =>
    name.startsWith('/')
      ? `${name} ${before.has(name) ? (after.has(name) ? 'changed' : 'gone') : 'new'}`
      : `${name}: ${before.get(name) ?? 'none'}, now ${after.get(name) ?? 'none'}`,
  );
  throw new Failure('fatal', 'the host is not as it was before', { found: shown.join('; ') });
}
