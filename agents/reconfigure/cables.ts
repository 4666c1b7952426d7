import { Failure } from '../../lib/base/errors/failure.ts';
import { exists, namesIn, readTextIfPresent } from '../../lib/host/files.ts';
import { adapterNames } from '../../lib/host/machine-identifiers.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { ReconfigureContext } from './context.ts';
import { showPorts } from './signal.ts';

const ADAPTERS = '/sys/class/net';

/**
 * What a technician can see at once: which port has no cable, by the address on its label, and in which port there is one.
 *
 * @throws Failure (fatal, site-link)
 */
export async function requireCables({ paths, site }: ReconfigureContext): Promise<void> {
  const unplugged: string[] = [];
  for (const name of site.expectedAdapters) {
    if ((await carrierOf(paths, name)) === '0') unplugged.push(name);
  }
  const [first] = unplugged;
  if (first === undefined) return;
  const others = await pluggedIn(paths, site.expectedAdapters);
  const elsewhere = others.length === 0 ? '' : ` There is one in ${others.join(', ')}.`;
  throw await noLink(paths, unplugged, `${first}, and insert the volume again.${elsewhere}`);
}

/**
 * Why nobody answers at a site that names no adapters, such as one with DHCP: no port of the host has a link.
 *
 * @throws Failure (fatal, site-link)
 */
export async function requireAnyCable({ paths }: ReconfigureContext): Promise<void> {
  const adapters = await adapterNames(paths);
  const carriers = await Promise.all(adapters.map((name) => carrierOf(paths, name)));
  const unplugged = adapters.filter((_, at) => carriers[at] === '0');
  // One that is down cannot tell, and is in use by nobody.
  if (unplugged.length === 0 || carriers.includes('1')) return;
  throw await noLink(paths, unplugged, `${unplugged.join(' or ')}, and insert the volume again.`);
}

async function noLink(paths: HostPaths, unplugged: string[], where: string): Promise<Failure> {
  await showPorts(paths, unplugged);
  const named = await Promise.all(unplugged.map((name) => portText(paths, name)));
  return new Failure('fatal', `no link on ${named.join(', ')}`, {
    code: 'site-link',
    fix: `Check the cable in ${where}`,
  });
}

/** `1`, `0`, or empty: an adapter that is down cannot tell (EINVAL). */
async function carrierOf(paths: HostPaths, name: string): Promise<string> {
  const text = await readTextIfPresent(paths.at(`${ADAPTERS}/${name}/carrier`)).catch(() => '');
  return text?.trim() ?? '';
}

async function portText(paths: HostPaths, name: string): Promise<string> {
  const address = await readTextIfPresent(paths.at(`${ADAPTERS}/${name}/address`));
  return address === undefined ? name : `${name} (MAC address ${address.trim()})`;
}

/** Ports of the machine, without bridges and the like, that the site does not use and that have a link. */
async function pluggedIn(paths: HostPaths, expected: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await namesIn(paths.at(ADAPTERS))).toSorted()) {
    if (expected.includes(name)) continue;
    const isPort = await exists(paths.at(`${ADAPTERS}/${name}/device`));
    if (isPort && (await carrierOf(paths, name)) === '1') found.push(await portText(paths, name));
  }
  return found;
}
