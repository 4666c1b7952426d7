import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { privateKeysBelow } from '../checks/private-keys.ts';
import type { Host } from '../host/host.ts';
import { searchBelow } from '../host/search.ts';
import { SITE_SECRETS } from '../site-inputs.ts';

/** Tokens that the kubelet stores for this host's pods. */
const TOKENS = 'var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/*/token';

/** Searches independently of gather's own redaction: no private key, pod token or site secret may be found. */
export async function expectNoSecrets(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  const keys = await privateKeysBelow(folder, ['.'], signal);
  const values = [...SITE_SECRETS, ...podTokens(host.rootDir)].flatMap(spellings);
  const files = await searchBelow(folder, ['-rlaFf', '-', '.'], signal, values.join('\n'));
  const found = [...keys.map(({ path }) => path), ...files];
  if (found.length === 0) return;
  throw new Failure('fatal', 'the bundle contains secrets of this host', {
    found: found.join(', '),
  });
}

const podTokens = (root: string) =>
  globSync(TOKENS, { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8').trim());

const spellings = (secret: string) => [secret, Buffer.from(secret).toString('base64')];
