import { Failure } from '../../base/errors/failure.ts';
import { decrypterFor } from '../../change/backup/portable/recipients.ts';
import { parseBackupTo } from '../../change/backup/push/read-backup-to.ts';
import type { UsedVolume } from '../../change/site/used-volume.ts';
import { parseSiteConfig } from '../../config/site-config/read.ts';
import { SITE_CONFIG } from '../../config/site-config/site-config.ts';
import { parseReportTo } from '../../engine/report/read-report-to.ts';
import { sha256 } from '../../host/files.ts';
import { allowedSigners, verifySignature } from '../../pki/signature/ssh-signature.ts';
import { decryptFiles } from './archive.ts';
import { credentialsIn } from './credentials.ts';
import { extraManifests } from './extra-manifests.ts';
import { judgingTime, requireUsable } from './judge.ts';
import { filesWithKeys } from './keys.ts';
import { MAX_VOLUME_MANIFEST_BYTES, parseVolumeManifest, type VolumeManifest } from './manifest.ts';
import { readVolumeFile } from './read-file.ts';
import { refused } from './refused.ts';
import { requireAcceptedCertificates } from './shown-certificate.ts';
import { VOLUME_SIGNATURE } from './signature.ts';
import { type VerifiedVolume, VOLUME_FILES, type VolumeRules } from './volume.ts';

/** No signature of ssh-keygen is longer. */
const MAX_SIGNATURE_BYTES = 16 << 10;

/** The manifest of a volume that may be used; its files are not read yet. */
export interface AcceptedManifest extends Pick<VerifiedVolume, 'use' | 'isKnown' | 'signedBy'> {
  readonly manifest: VolumeManifest;
}

/**
 * Verifies a volume, in this order: who signed it, whether it is for this node and not expired, whether it is newer than
 * every used one, every digest, what is encrypted, and what it asks for. Nothing outside of `work` is written.
 *
 * @param folder the files of a medium, whoever wrote them; other files than those of the manifest are never opened.
 * @param work a folder that does not exist yet.
 * @param trusted is called once it is known that somebody has made the volume whom the rules allow to
 * @throws Failure (usage, `site-volume-refused` or `site-config-refused`) with the reason
 */
export async function openVolume(
  folder: string,
  rules: VolumeRules,
  work: string,
  signal: AbortSignal,
  trusted?: (manifest: VolumeManifest) => void,
): Promise<VerifiedVolume> {
  const { manifest, ...accepted } = await acceptManifest(folder, rules, work, signal, trusted);
  const files = await readFiles(folder, manifest, rules, signal);
  const now = judgingTime(manifest, rules.now);
  const bytes = files.get(SITE_CONFIG);
  if (bytes === undefined) throw refused(`the volume has no ${SITE_CONFIG}`, {});
  const text = Buffer.from(bytes).toString('utf8');
  const config = parseSiteConfig(text, SITE_CONFIG, { files, now }, rules.facts);
  await requireAcceptedCertificates(config, text, SITE_CONFIG);
  requireReadable(files, VOLUME_FILES.reportTo, parseReportTo);
  requireReadable(files, VOLUME_FILES.backupTo, parseBackupTo);
  return {
    ...accepted,
    config,
    credentials: credentialsIn(files, now),
    manifests: extraManifests(files),
    files,
  };
}

/** @throws Failure (usage) if that file is there, and its parser refuses it */
function requireReadable(
  files: ReadonlyMap<string, Uint8Array>,
  name: string,
  parse: (text: string, name: string) => unknown,
): void {
  const bytes = files.get(name);
  if (bytes === undefined) return;
  try {
    parse(Buffer.from(bytes).toString('utf8'), name);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { expected, found } = error.details;
    throw refused(error.what, { expected, found });
  }
}

/** The first half of openVolume: everything that is known without the files. */
export async function acceptManifest(
  folder: string,
  rules: VolumeRules,
  work: string,
  signal: AbortSignal,
  trusted?: (manifest: VolumeManifest) => void,
): Promise<AcceptedManifest> {
  const bytes = await readVolumeFile(folder, VOLUME_FILES.manifest, MAX_VOLUME_MANIFEST_BYTES);
  if (bytes === undefined) {
    throw refused(`the volume has no ${VOLUME_FILES.manifest}`, {
      fix: 'Nothing was changed. Write the medium with "sno create site-volume": a bare site-config.yaml is not used.',
    });
  }
  const text = bytes.toString('utf8');
  const signedBy = await signerOf(folder, text, rules, work, signal);
  const manifest = parseVolumeManifest(text);
  trusted?.(manifest);
  const use: UsedVolume = { serial: manifest.serial, sha256: sha256(bytes) };
  return { manifest, use, isKnown: requireUsable(manifest, use, rules), signedBy };
}

/** Undefined for a volume that need not be signed. A signature that is there counts wherever a key is known. */
async function signerOf(
  folder: string,
  text: string,
  { allowedSigners: keys, unsignedAllowed }: VolumeRules,
  work: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const bytes = await readVolumeFile(folder, VOLUME_FILES.signature, MAX_SIGNATURE_BYTES);
  if (unsignedAllowed && (bytes === undefined || keys.length === 0)) return undefined;
  if (bytes === undefined) {
    throw refused('the volume is not signed', {
      expected: `${VOLUME_FILES.signature}, by ${VOLUME_SIGNATURE.keys}`,
      fix: VOLUME_SIGNATURE.fixes.sign,
    });
  }
  return verifySignature(
    { text, signature: bytes.toString('utf8') },
    allowedSigners(keys, VOLUME_SIGNATURE),
    VOLUME_SIGNATURE,
    work,
    signal,
  );
}

/** Every file of the volume, decrypted. */
async function readFiles(
  folder: string,
  manifest: VolumeManifest,
  { ageIdentity }: VolumeRules,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const outer = await readListed(folder, manifest);
  if (!manifest.encrypted) {
    const withKeys = await filesWithKeys(outer, signal);
    if (withKeys.length === 0) return outer;
    throw refused('the volume has a private key or a token that is not encrypted', {
      expected: 'keys only on a volume for one node (--recipient)',
      found: withKeys.join(', '),
      fix: 'Nothing was changed. Replace the key: whoever had the medium may have read it.',
    });
  }
  const encrypted = outer.get(VOLUME_FILES.encrypted);
  if (encrypted === undefined || outer.size !== 1) {
    throw refused('the volume is encrypted in another way', {
      expected: VOLUME_FILES.encrypted,
      found: [...outer.keys()].join(', '),
    });
  }
  if (ageIdentity === undefined) {
    throw refused('the volume is encrypted, and this node has no identity of age', {
      fix: 'Nothing was changed. The factory makes it with "reconfigure prepare".',
    });
  }
  const decrypter = decrypterFor(ageIdentity, 'the identity of this node');
  return decryptFiles(encrypted, decrypter, signal);
}

/** The files that the manifest lists, each with its digest. */
export async function readListed(
  folder: string,
  { files }: VolumeManifest,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const read = new Map<string, Uint8Array>();
  for (const { path, bytes, sha256: expected } of files) {
    const contents = await readVolumeFile(folder, path, bytes);
    const found = contents === undefined ? 'no such file' : sha256(contents);
    if (contents === undefined || found !== expected) {
      throw refused(`${path} of the volume is not what its manifest says`, {
        expected: `SHA-256 ${expected}`,
        found,
        fix: 'Nothing was changed. Copy the volume again, or use another medium.',
      });
    }
    read.set(path, contents);
  }
  return read;
}
