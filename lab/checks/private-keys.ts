import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../../lib/host/files.ts';
import type { Host } from '../host/host.ts';
import { foundIn, SEARCH_MS, searchBelow } from '../host/search.ts';

/** "PRIVATE KEY", plain and in base64 at each of its three alignments. */
const MARKS = ['PRIVATE KEY', 'UFJJVkFURSBLRV', 'BSSVZBVEUgS0V', 'QUklWQVRFIEtFW'];
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Given as input: a machine's guest agent writes the arguments of what it runs into the journal, which is searched for keys. */
const search = ['-rlaFs', '--file=-'];
const input = MARKS.map((mark) => `${mark}\n`).join('');

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
  return keysIn(host.rootDir, foundIn(await host.exec(argv, options, signal)));
}

/** Private keys in files below some folders of a tree, also in base64; independent of the agents' own search. */
export async function privateKeysBelow(
  root: string,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<FoundKey[]> {
  return keysIn(root, await searchBelow(root, [...search, ...folders], signal, input));
}

async function keysIn(root: string, found: readonly string[]): Promise<FoundKey[]> {
  const keys: FoundKey[] = [];
  for (const path of found) {
    const text = await readFile(join(root, path), 'latin1').catch((error: unknown) => {
      if (isMissing(error)) return '';
      throw error;
    });
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
