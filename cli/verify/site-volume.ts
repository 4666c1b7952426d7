import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseBackupTo } from '../../lib/change/backup/push/read-backup-to.ts';
import { storedAt } from '../../lib/change/backup/push/store.ts';
import { siteDomain } from '../../lib/config/site-config/site-config.ts';
import { parseReportTo } from '../../lib/engine/report/read-report-to.ts';
import { readGivenFile, requireRegularFile } from '../../lib/host/given-file.ts';
import { sshKeys } from '../../lib/pki/signature/ssh-keys.ts';
import {
  acceptManifest,
  openVolume,
  readListed,
} from '../../lib/relocation/site-volume/open-volume.ts';
import { VOLUME_FILES, type VolumeRules } from '../../lib/relocation/site-volume/volume.ts';
import { readShippedFacts } from '../site/read-site.ts';
import { inTemporary, withIso } from '../site/write-medium.ts';
import type { Surroundings } from '../surroundings.ts';

export interface VerifyVolumeOptions {
  readonly sshKey?: string;
  readonly identity?: string;
  readonly hostFacts?: string;
}

/**
 * `sno verify site-volume PATH`: judges an ISO or a folder as a node does. Without the node's identity, what is encrypted
 * is only compared with its digest.
 *
 * @throws Failure (usage) with the reason why a node would refuse it
 */
export async function verifySiteVolume(
  path: string,
  options: VerifyVolumeOptions,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const { sshKey, identity, hostFacts } = options;
  const rules: VolumeRules = {
    allowedSigners:
      sshKey === undefined ? [] : sshKeys(await readGivenFile(sshKey, '--ssh-key', { signal })),
    unsignedAllowed: sshKey === undefined,
    ageIdentity:
      identity === undefined ? undefined : await readGivenFile(identity, '--identity', { signal }),
    used: [],
    facts: await readShippedFacts(hostFacts),
    now: new Date(),
  };
  const verify = (folder: string) => verified(folder, rules, signal);
  const stats = await stat(path).catch(() => undefined);
  // A drive with a medium is read as well as an image.
  if (stats?.isDirectory() !== true && stats?.isBlockDevice() !== true) {
    await requireRegularFile(path, 'The volume');
  }
  const lines = stats?.isDirectory() ? await verify(path) : await withIso(path, signal, verify);
  for (const line of lines) print(line);
}

async function verified(
  folder: string,
  rules: VolumeRules,
  signal: AbortSignal,
): Promise<string[]> {
  return inTemporary(async (temporary) => {
    const work = join(temporary, 'keys');
    const { manifest, signedBy } = await acceptManifest(folder, rules, work, signal);
    const { serial, hosts, validUntil, encrypted } = manifest;
    const lines = [
      `serial      ${serial}, until ${validUntil ?? 'always'}`,
      `hosts       ${hosts.join(', ') || 'every node'}`,
      `signed by   ${signedBy ?? 'nobody, or not compared (--ssh-key)'}`,
    ];
    if (encrypted && rules.ageIdentity === undefined) {
      await readListed(folder, manifest);
      return [...lines, 'encrypted   not opened (--identity)'];
    }
    const { config, manifests, credentials, files } = await openVolume(folder, rules, work, signal);
    return [
      ...lines,
      `site        ${siteDomain(config)}`,
      `manifests   ${manifests.length}`,
      `credentials ${credentials.kind}`,
      `reports to  ${receiver(files.get(VOLUME_FILES.reportTo)) ?? 'whom the node knows, if anybody'}`,
      `backups to  ${storeOf(files.get(VOLUME_FILES.backupTo)) ?? 'where the node stores them, if anywhere'}`,
    ];
  });
}

/** Where the backups go, without what is secret of it. */
function storeOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const to = parseBackupTo(Buffer.from(bytes).toString('utf8'), VOLUME_FILES.backupTo);
  return `${storedAt(to, '')}, for ${to.recipients.map((each) => each.slice(0, 12)).join('…, ')}…`;
}

/** Who gets the reports, without what is secret of it. */
function receiver(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const to = parseReportTo(Buffer.from(bytes).toString('utf8'), VOLUME_FILES.reportTo);
  if ('url' in to) return new URL(to.url).origin;
  return `${to.hub.server}, Site ${to.hub.namespace}/${to.hub.name}`;
}
