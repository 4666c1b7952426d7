import { readlink } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename } from 'node:path';
import type { HostPaths } from './paths.ts';

/** The target of the link /etc/resolv.conf if systemd-resolved answers on 127.0.0.53. */
const stub = 'stub-resolv.conf';

/**
 * The file with the host's name servers as pods can reach them: with systemd-resolved, the one
 * with its upstream servers, since its own address is each pod's loopback.
 */
export async function resolvConfForPods({ at }: HostPaths): Promise<string> {
  const target = await readlink(at('/etc/resolv.conf')).catch(() => '');
  return basename(target) === stub ? '/run/systemd/resolve/resolv.conf' : '/etc/resolv.conf';
}

/** The relevant part of resolv.conf(5). */
export interface ResolverConfiguration {
  /** With a port if it is not 53. */
  readonly servers: readonly string[];
  readonly search: readonly string[];
}

export function parseResolvConf(text: string): ResolverConfiguration {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const servers = lines.flatMap(([word, server = '']) =>
    // Link-local addresses carry their interface after a percent sign.
    word === 'nameserver' && isIP(server.replace(/%.*/, '')) !== 0 ? [server] : [],
  );
  const [, ...search] = lines.findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  return { servers, search };
}

/**
 * The name as the resolver asks it alone: a name that does not exist is otherwise tried in each
 * search domain, one of which may answer every name. A name of one part is meant for them; an
 * address is none.
 */
export const absoluteName = (name: string): string =>
  isIP(name) !== 0 || !name.includes('.') || name.endsWith('.') ? name : `${name}.`;

/** Whether hosts(5) lists the name, which it is not found by in its absolute form. */
export const isInHosts = (hosts: string, name: string): boolean =>
  hosts
    .split('\n')
    .some((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1).includes(name));
