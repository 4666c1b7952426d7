import { deferrable } from '../../lib/deferred/deferrable.ts';
import { deferredFile } from '../../lib/deferred/manifests.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import {
  type DecodedManifests,
  decodeManifests,
  type Manifest,
} from '../../lib/kube/manifest-decoding.ts';
import { splitDuplicates } from '../../lib/kube/manifests.ts';
import type { UserManifest, UserManifests } from './user-manifests.ts';

export interface DeferredUserManifests extends UserManifests {
  /** Files of the deferred folder on the host, one object in each. */
  deferred: { name: string; contents: string }[];
  /** A sentence for each of them. */
  deferredNotices: string[];
}

/**
 * Takes out of the user's manifests those of a kind that nothing serves during the
 * bootstrap (see `deferrable`). The control plane that is rendered on the host brings
 * no definitions of its own. Files without such an object stay as they are, byte for
 * byte, and so do those with a document that cannot be decoded, which the bootstrap
 * will name.
 */
export function deferManifests(user: UserManifests): DeferredUserManifests {
  const decoded = new Map(user.manifests.map((file) => [file, decode(file)]));
  const deferred = deferrable([...decoded.values()].flatMap(({ manifests }) => manifests));
  const kept: UserManifest[] = [];
  const taken: Manifest[] = [];
  for (const [file, { manifests, undecodable }] of decoded) {
    const later = manifests.filter((manifest) => deferred.has(manifest));
    if (later.length === 0 || undecodable.length > 0) {
      kept.push(file);
      continue;
    }
    taken.push(...later);
    const rest = manifests.filter((manifest) => !deferred.has(manifest));
    if (rest.length > 0) kept.push({ path: file.path, contents: Buffer.from(textOf(rest)) });
  }
  const { manifests, faults } = splitDuplicates(taken);
  return {
    ...user,
    manifests: kept,
    faults: [
      ...user.faults,
      ...faults.flatMap((fault) =>
        fault.kind === 'duplicate'
          ? [
              `${placeOf(fault.manifest)}: the same object as in ${placeOf(fault.first)}. Remove one.`,
            ]
          : [],
      ),
    ],
    deferred: manifests.map((manifest, index) => deferredFile(manifest, index + 1)),
    deferredNotices: manifests.map(noticeOf),
  };
}

function decode({ path, contents }: UserManifest): DecodedManifests {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(contents);
    return decodeManifests(path, text);
  } catch {
    return {
      manifests: [],
      undecodable: [{ file: path, document: 1, line: 1, reason: 'not text' }],
    };
  }
}

/** The documents as JSON, which is YAML, each on the line that it began on, so that the bootstrap's words lead there. */
function textOf(manifests: readonly Manifest[]): string {
  const lines: string[] = [];
  for (const [line, objects] of Map.groupBy(manifests, ({ line }) => line)) {
    while (lines.length < line - 1) lines.push('');
    const [only, ...others] = objects.map(({ object }) => object);
    const whole =
      others.length === 0 ? only : { apiVersion: 'v1', kind: 'List', items: [only, ...others] };
    lines.push(`--- ${JSON.stringify(whole)}`);
  }
  return `${lines.join('\n')}\n`;
}

const placeOf = ({ file, line }: Manifest) => `${file}:${line}`;

function noticeOf(manifest: Manifest): string {
  const { kind, namespace, name, apiVersion } = manifest;
  const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const hours = defaultSettings.deferredExpiryHours;
  return `deferred: ${object} (${placeOf(manifest)}). Nothing serves ${apiVersion} during the bootstrap: it is applied once that is served, until ${hours} h after the installation`;
}
