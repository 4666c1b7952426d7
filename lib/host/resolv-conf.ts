import { readlink } from 'node:fs/promises';
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
