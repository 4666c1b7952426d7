import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { exists } from '../../lib/host/files.ts';
import { Failure } from '../../lib/steps/failure.ts';
import type { ClusterCheck } from './check.ts';

/** "PRIVATE KEY", plain and in base64 at each of its three alignments. */
const MARKS = ['PRIVATE KEY', 'UFJJVkFURSBLRV', 'BSSVZBVEUgS0V', 'QUklWQVRFIEtFW'];
const PEM = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]+?-----END [A-Z ]*PRIVATE KEY-----/g;

/** Looked for from outside, with other means than the agent's own. */
export const nothingLeft: ClusterCheck = {
  name: 'no file of the ledger and no key of the bootstrap is left',
  run: async ({ host, carried: { ledger } }, signal) => {
    if (ledger.entries.length === 0 || ledger.goneKeys.length === 0) {
      throw new Failure('fatal', 'the ledger is empty: there is nothing to look for');
    }
    const left: string[] = [];
    for (const { path } of ledger.entries) {
      if (await exists(join(host.rootDir, path))) left.push(path);
    }
    for (const state of ['post-reboot', 'sno-restore', 'restore', 'live']) {
      const path = join('/var/lib/sno-agents', state);
      if (await exists(join(host.rootDir, path))) left.push(path);
    }
    if (left.length > 0) throw new Failure('fatal', 'files are left', { found: left.join(', ') });
    const keys = await keysBelow(host.rootDir, signal);
    const known = keys.filter(({ fingerprint }) => ledger.goneKeys.includes(fingerprint));
    if (known.length > 0) {
      const found = known.map(({ path }) => path).join(', ');
      throw new Failure('fatal', 'keys of the bootstrap are left', { found });
    }
    // A search that finds no key at all would prove nothing: the authorities' stay.
    if (keys.length < 10) throw new Failure('fatal', 'the search found hardly any key');
  },
};

async function keysBelow(root: string, signal: AbortSignal) {
  const folders = ['etc', 'var', 'root', 'home', 'opt', 'srv', 'boot', 'tmp'];
  const patterns = MARKS.flatMap((mark) => ['-e', mark]);
  const { stdout } = await execa('grep', ['-rlaF', ...patterns, ...folders], {
    cwd: root,
    cancelSignal: signal,
    timeout: 60_000,
    // 1: found nothing; 2: a socket or a file that vanished.
    reject: false,
  });
  const keys: { path: string; fingerprint: string }[] = [];
  for (const path of stdout.split('\n').filter(Boolean)) {
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
        // The words alone, as in a program's text.
        return [];
      }
    }),
  );
}
