import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KEY_BYTES, unsealed } from '../../../../lib/secrets/seal/envelope.ts';
import type { TestHost } from './host.ts';

const PLACE = '/var/lib/sno-agents/sealed';

/** The sealed copy of a file of a sealed host. */
export const copyAt = (path: string): string => `${PLACE}/files${path}`;

/**
 * Makes it a sealed host, opened at this boot. `afterBoot`: what a file in a sealed folder contains after the next boot, that of
 * its sealed copy; undefined without one.
 */
export function seal(host: TestHost) {
  const key = randomBytes(KEY_BYTES);
  host.write(`${PLACE}/key.cred`, 'a credential', 0o600);
  host.write('/run/sno-agents/sealed/key', key, 0o600);
  const afterBoot = (path: string): string | undefined => {
    const copy = copyAt(path);
    if (!host.has(copy)) return undefined;
    return unsealed(key, path, readFileSync(host.at(copy)))?.toString() ?? 'sealed by another key';
  };
  return { key, afterBoot };
}
