import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { ensureComponent } from '../components/component.ts';
import { serveFiles } from '../host/http-server.ts';
import { cli, executable } from '../paths.ts';
import { payload } from '../payload.ts';
import type { LabContext } from '../scenario.ts';
import { SETTINGS } from '../updates.ts';
import { HUB_NAME } from './way-to-hub.ts';

const CREATE_MS = 3 * 60_000;
const SERIAL = 170;
const PORT = 8095;

/** A signed update on a web server, and a node that trusts whoever has signed it. Returns what a Site says of it. */
export async function namedUpdate(
  { signal, teardown }: LabContext,
  folder: string,
  { address, rootDir }: { readonly address: string; readonly rootDir: string },
): Promise<{ readonly url: string; readonly serial: number }> {
  await mkdir(folder);
  const limits = { signal, deadlineMs: CREATE_MS };
  const key = join(folder, 'key');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key], limits);
  // Another executable of the same version: a program does not read what is behind its end.
  const later = join(folder, 'later-sno-agents');
  await copyFile(executable, later);
  await appendFile(later, 'another build\n');
  const served = join(folder, 'served');
  await mkdir(served);
  const parts = [
    ...['--payload', await ensureComponent(payload, { signal, report: () => undefined })],
    ...['--agents-executable', later, '--key', key, '--serial', `${SERIAL}`],
  ];
  await run(cli, ['create', 'update', '--dir', join(served, 'next'), ...parts], limits);
  await serveFiles(served, PORT, teardown, { address });
  const config = join(rootDir, 'etc/sno-agents');
  const signer = `sno-update namespaces="sno-agents-update" ${await readFile(`${key}.pub`, 'utf8')}`;
  await writeFile(join(config, 'allowed_signers'), signer, { mode: 0o600 });
  await writeFile(join(config, 'settings.json'), JSON.stringify(SETTINGS));
  // By the name that the site reaches without its proxy.
  return { url: `http://${HUB_NAME.name}:${PORT}/next`, serial: SERIAL };
}
