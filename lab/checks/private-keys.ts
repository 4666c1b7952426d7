import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Host } from '../host/host.ts';

/** "PRIVATE KEY", plain and in base64 at each of its three alignments. */
const MARKS = ['PRIVATE KEY', 'UFJJVkFURSBLRV', 'BSSVZBVEUgS0V', 'QUklWQVRFIEtFW'];
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Given as input: a machine's guest agent writes the arguments of what it runs into the journal, which is searched for keys. */
const search = ['-rlaFs', '--file=-'];
const input = MARKS.map((mark) => `${mark}\n`).join('');
const SEARCH_MS = 60_000;

export interface FoundKey {
  /** Relative to the root. */
  readonly path: string;
  /** SHA-256 of its public key in DER. */
  readonly fingerprint: string;
}

/** As privateKeysBelow, of a running host, which searches itself: a machine's files come one by one. */
export async function privateKeysOn(
  host: Host,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<FoundKey[]> {
  const absolute = folders.map((folder) => `/${folder}`);
  const argv = ['grep', ...search, ...absolute];
  const options = { timeoutMs: SEARCH_MS, input };
  const { stdout } = await host.exec(argv, options, signal);
  return keysIn(host.rootDir, stdout);
}

/** Private keys in files below some folders of a tree, also in base64; independent of the agents' own search. */
export async function privateKeysBelow(
  root: string,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<FoundKey[]> {
  const { stdout } = await execa('grep', [...search, ...folders], {
    cwd: root,
    input,
    cancelSignal: signal,
    timeout: SEARCH_MS,
    // 1: no match; 2: a socket or a file that vanished.
    reject: false,
  });
  return keysIn(root, stdout);
}

async function keysIn(root: string, found: string): Promise<FoundKey[]> {
  const keys: FoundKey[] = [];
  for (const path of found.split('\n').filter(Boolean)) {
    const text = await readFile(join(root, path), 'latin1').catch(() => '');
    for (const fingerprint of fingerprintsIn(text)) keys.push({ path, fingerprint });
  }
  return keys;
}

function fingerprintsIn(text: string): string[] {
  const nested = [...text.matchAll(/[A-Za-z0-9+/=]{120,}/g)].map(([run]) =>
    Buffer.from(run, 'base64').toString('latin1'),
  );
  return [text, ...nested].flatMap((each) =>
    [...each.matchAll(PEM)].flatMap(([pem]) => {
      try {
        const spki = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' });
        return [createHash('sha256').update(spki).digest('hex')];
      } catch {
        // Only the marker, as in a program's text.
        return [];
      }
    }),
  );
}
