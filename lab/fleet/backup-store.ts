import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { createAuthority, issueLeaf } from '../certificates/signed-now.ts';
import { SITE } from '../host/network.ts';
import type { LabContext } from '../scenario.ts';

const PORT = 8094;
const FOLDER = '/backups/';
const TOKEN = 'store-T0ken-of-the-fleet';
const { bridge: LAB } = SITE.segments.IPv4;

/** Where hosts of a site store their backups. */
export interface BackupStore {
  /** The contents of backup-to.json. */
  readonly backupTo: string;
  /** Who reads the backups: a key of age. */
  readonly identity: string;
  /** The paths of what hosts have stored. */
  stored(): Promise<string[]>;
}

/** A server that takes files by PUT, with a token, and gives them back. */
export async function startBackupStore(
  folder: string,
  { teardown }: Pick<LabContext, 'teardown'>,
): Promise<BackupStore> {
  await mkdir(folder, { recursive: true });
  const authority = await createAuthority('store');
  const subject = { commonName: 'store' };
  const tls = await issueLeaf(authority, { subject, usage: 'server', ipAddresses: [LAB] });
  const server = createServer({ cert: tls.certificate, key: tls.key }, storeIn(folder));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(PORT, LAB, resolve);
  });
  teardown.add('stop the store of backups', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const identity = await generateIdentity();
  const backupTo = {
    ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo' },
    recipients: [await identityToRecipient(identity)],
    certificateAuthority: authority.certificate,
    ...{ url: `https://${LAB}:${PORT}${FOLDER}`, token: TOKEN },
  };
  const stored = async () => (await readdir(folder)).map((name) => join(folder, name));
  return { backupTo: JSON.stringify(backupTo), identity, stored };
}

const storeIn =
  (folder: string): RequestListener =>
  async (request, response) => {
    const { method, url = '', headers } = request;
    const path = join(folder, basename(url));
    try {
      if (headers.authorization !== `Bearer ${TOKEN}` || url !== `${FOLDER}${basename(url)}`) {
        response.writeHead(403);
      } else if (method === 'PUT') {
        await pipeline(request, createWriteStream(path, { flags: 'wx' }));
        response.writeHead(201);
      } else {
        await pipeline(createReadStream(path), response);
      }
    } catch {
      if (!response.headersSent) response.writeHead(404);
    }
    response.end();
  };
