import type { Host } from './host.ts';
import { onHost } from './on-host.ts';

/** A deployment of an ostree system. */
export interface Deployment {
  /** Its folder on the host. */
  readonly path: string;
  readonly isBooted: boolean;
}

/** Those of a running host, in the order of its boot loader: the first one boots next. */
export async function deploymentsOf(
  host: Pick<Host, 'exec'>,
  signal: AbortSignal,
): Promise<Deployment[]> {
  return deploymentsIn(await onHost(host, ['ostree', 'admin', 'status'], signal));
}

/** What `ostree admin status` lists, without whitespace around it. */
export function deploymentsIn(status: string): Deployment[] {
  const line = /^ *(\* )?(\S+) ([0-9a-f]{64}\.\d+)/gm;
  return Array.from(status.matchAll(line), ([, mark, stateroot, id]) => ({
    path: `/sysroot/ostree/deploy/${stateroot}/deploy/${id}`,
    isBooted: mark !== undefined,
  }));
}
