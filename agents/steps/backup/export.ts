import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encrypter } from 'age-encryption';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { productVersion } from '../../../lib/base/version.ts';
import type { BackupFile, BackupManifest } from '../../../lib/change/backup/manifest.ts';
import { signHeader } from '../../../lib/change/backup/portable/author.ts';
import { HEADER_VERSION, type PortableHeader } from '../../../lib/change/backup/portable/header.ts';
import { writePortable } from '../../../lib/change/backup/portable/write.ts';
import { backupsFolder } from '../../../lib/change/backup/store.ts';
import { verifyBackup } from '../../../lib/change/backup/verify.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { readTextIfPresent, sha256 } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { ownUser } from '../../../lib/host/process.ts';
import { givenSettings, readSoundSettings } from '../../../lib/host/settings.ts';
import { parsePayload, payloadFile } from '../../../lib/payload/payload.ts';
import { authorityPaths, laptopAdminCa } from '../../../lib/render/kubernetes/authorities.ts';
import { readRenderInput, storedRenderInput } from '../../../lib/render/render-input.ts';
import { readSecret } from '../../../lib/secrets/seal/files.ts';

/** @throws Failure (usage) if this host has not what a backup for another one needs */
export async function requireExportable(paths: HostPaths): Promise<void> {
  await portableParts(paths);
  await signingKey(paths);
}

/**
 * Verifies a backup of this host and writes it into one new file, encrypted, for another host.
 *
 * @param name as `sno-backup list` prints it
 * @param target does not exist
 * @returns `settingsFault`: what is wrong with the settings of this host, of which what is sound goes along
 * @throws Failure; nothing incomplete is left
 */
export async function exportBackup(
  paths: HostPaths,
  name: string,
  { target, encrypter }: { readonly target: string; readonly encrypter: Encrypter },
  signal: AbortSignal,
): Promise<{ bytes: number; settingsFault: Failure | undefined }> {
  const folder = join(backupsFolder(paths), name);
  const { clusterId } = await readCluster(paths);
  const manifest = await verifyBackup(folder, { clusterId, owner: ownUser(), signal });
  const { files, opened } = await openedFiles(paths, folder, manifest);
  const header = await headerFor(paths, { ...manifest, files });
  const contentsOf = ({ path }: BackupFile) => opened.get(path) ?? join(folder, path);
  const key = await signingKey(paths);
  const signs = (text: string) => signHeader(text, key);
  const { fault: settingsFault } = await readSoundSettings(paths);
  const written = await writePortable(target, { header, contentsOf, signs, encrypter }, signal);
  return { ...written, settingsFault };
}

/**
 * The files of a backup as another host can read them: the copies of keys that this host has sealed are opened, since
 * no other one can.
 */
async function openedFiles(
  paths: HostPaths,
  folder: string,
  { files }: BackupManifest,
): Promise<{ files: BackupFile[]; opened: ReadonlyMap<string, Buffer> }> {
  const opened = new Map<string, Buffer>();
  for (const { path, host } of files) {
    if (host === undefined) continue;
    const text = await readSecret(paths, join(folder, path), host);
    if (text !== undefined) opened.set(path, Buffer.from(text));
  }
  const described = files.map((file) => {
    const contents = opened.get(file.path);
    return contents === undefined
      ? file
      : { ...file, bytes: contents.length, sha256: sha256(contents) };
  });
  return { files: described, opened };
}

/** The key of the authority of administrators; the laptop has its certificate. @throws Failure if it is missing */
async function signingKey(paths: HostPaths): Promise<string> {
  const { key } = authorityPaths('admin');
  const text = await readTextIfPresent(paths.at(key));
  if (text !== undefined) return text;
  throw new Failure('usage', 'this host cannot sign a backup', {
    expected: `${key}, the key of its authority of administrators`,
    found: 'no such file',
  });
}

async function headerFor(paths: HostPaths, manifest: BackupManifest): Promise<PortableHeader> {
  return {
    schemaVersion: HEADER_VERSION,
    version: productVersion,
    at: new Date().toISOString(),
    ...(await portableParts(paths)),
    manifest,
  };
}

/** What is read of the host besides the backup. @throws Failure (usage) if it is missing */
async function portableParts(
  paths: HostPaths,
): Promise<Omit<PortableHeader, 'schemaVersion' | 'version' | 'at' | 'manifest'>> {
  const input = await readRenderInput(paths);
  if (input === undefined) {
    throw new Failure('usage', 'this host cannot make a backup for another one', {
      expected: '/etc/sno-agents/render-input.json, which hosts have since this release',
      found: 'a host of an earlier release',
    });
  }
  const path = join(paths.payload, payloadFile);
  const text = await readFile(path, 'utf8');
  const settings = await givenSettings(paths);
  const adminCa = await readTextIfPresent(paths.at(laptopAdminCa));
  const pullSecret = await readTextIfPresent(join(paths.kubelet, 'config.json'));
  return {
    renderInput: storedRenderInput(input),
    ...(settings === undefined ? {} : { settings }),
    ...(adminCa === undefined ? {} : { laptopAdminCa: adminCa }),
    ...(pullSecret === undefined ? {} : { pullSecret }),
    payload: { sha256: sha256(text), description: parsePayload(text, path) },
  };
}
