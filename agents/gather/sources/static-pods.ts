import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '../../../lib/host/files.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { folder, formatOf, isPlain } from './file.ts';
import { listing } from './listing.ts';
import { made } from './made.ts';
import { present } from './present.ts';
import { below } from './walk.ts';

const MANIFEST = /^[^/.][^/]*\.(ya?ml|json)$/;
/** Larger files are not manifests, certificates or configuration. */
const MAX_HASHED_BYTES = 8 << 20;

/** The kubelet's static pod manifests, and the host files that their pods read. */
export const staticPods: SourceGroup = {
  name: 'static-pods',
  deadlineMs: 5000,
  async list(host) {
    const at = (name: string) => own(host, `static-pods/${name}`);
    const manifests = await folder(at(''), host.paths.staticPods, { wanted: MANIFEST });
    return [
      ...manifests.map((source) => ({ ...source, format: formatOf(source.path) })),
      // Also lists other files, such as an editor's backup copy, which the kubelet runs as well.
      ...(await present([listing(at('folder.txt'), host.paths.staticPods)])),
      made(at('hashes.txt'), hashes),
    ];
  },
};

/** `sha256  path  size  mtime` of each file below /etc/kubernetes; a dash for files that may hold secrets. */
async function hashes({ paths }: GatherHost, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  for (const { name, kind } of await below(paths.kubernetes)) {
    signal.throwIfAborted();
    const place = join(paths.kubernetes, name);
    const status = await lstat(place).catch(() => undefined);
    if (status === undefined || !isPlain(name)) continue;
    const isHashed = kind === 'file' && status.size <= MAX_HASHED_BYTES && isPublic(name);
    const hash = isHashed ? await sha256OfFile(place, signal).catch(() => '-') : '-';
    lines.push(
      `${hash}  ${join('/etc/kubernetes', name)}  ${status.size}  ${status.mtime.toISOString()}\n`,
    );
  }
  return lines.join('');
}

const SECRET_NAME = /kubeconfig|token|secret|passw|encryption|auth|htpasswd|\.key$|pull/i;

/**
 * Certificates, manifests and configuration, by name. A hash of something guessable, such as
 * a password, would reveal it.
 */
export function isPublic(name: string): boolean {
  if (/\.(crt|cer)$/.test(name)) return true;
  if (/^manifests\/[^/]+\.(ya?ml|json)$/.test(name)) return true;
  return /\.(ya?ml|json|conf|toml)$/.test(name) && !SECRET_NAME.test(name);
}
