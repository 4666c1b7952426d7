import { isRecord } from '../../lib/base/json.ts';
import type { Manifest, UndecodableManifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { decodeManifestFile, splitDuplicates } from '../../lib/clients/kube/manifests.ts';
import { deferrable } from '../../lib/cluster/deferred/deferrable.ts';
import { deferredFile } from '../../lib/cluster/deferred/manifests.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { folderFaults } from './folder-faults.ts';
import { objectFault } from './object-faults.ts';
import { otherThanText } from './text-values.ts';
import { unrendered } from './unrendered.ts';
import type { UserManifest, UserManifests } from './user-manifests.ts';

export interface DeferredUserManifests extends UserManifests {
  /** Files of the deferred folder on the host, one object in each. */
  deferred: { name: string; contents: string }[];
  /** One sentence for each of them. */
  deferredNotices: string[];
}

/**
 * Removes from the user's manifests those of a kind that is not served during the
 * bootstrap (see `deferrable`). The control plane rendered on the host has no
 * definitions of its own. Files without such an object stay unchanged, byte for
 * byte. Documents that the host could not decode and duplicate objects are faults.
 */
export function deferManifests(user: UserManifests): DeferredUserManifests {
  const decoded = new Map(
    user.manifests.map((file) => [file, decodeManifestFile(file.path, file.contents)]),
  );
  const all = [...decoded.values()].flatMap(({ manifests }) => manifests);
  const deferred = deferrable(all);
  const kept: UserManifest[] = [];
  const taken: Manifest[] = [];
  for (const [file, { manifests }] of decoded) {
    const later = manifests.filter((manifest) => deferred.has(manifest));
    if (later.length === 0) {
      kept.push(file);
      continue;
    }
    taken.push(...later);
    const rest = manifests.filter((manifest) => !deferred.has(manifest));
    if (rest.length > 0) kept.push({ path: file.path, contents: Buffer.from(textOf(rest)) });
  }
  const { faults } = splitDuplicates(all);
  const wrong = new Map(all.map((manifest) => [manifest, valueFaults(manifest)]));
  return {
    ...user,
    manifests: kept,
    faults: [
      ...user.faults,
      ...[...decoded].flatMap(([{ contents }, { undecodable }]) =>
        undecodableFaults(undecodable, contents.includes('{{')),
      ),
      ...[...wrong.values()].flat(),
      ...folderFaults(all)
        .filter(([manifest]) => wrong.get(manifest)?.length === 0)
        .map(([manifest, fault]) => `${placeOf(manifest)}: ${printable(fault)}`),
      ...faults.flatMap((fault) =>
        fault.kind === 'duplicate'
          ? [
              `${placeOf(fault.manifest)}: the same object as in ${placeOf(fault.first)}. Remove one.`,
            ]
          : [],
      ),
    ],
    deferred: taken.map((manifest, index) => deferredFile(manifest, index + 1)),
    deferredNotices: taken.map(noticeOf),
  };
}

/** A value that a template engine should have filled in, that is no text where only one can be, or that only a cluster gives, as a sentence. */
export function valueFaults(manifest: Manifest): string[] {
  const path = unrendered(manifest);
  if (path === undefined) {
    const other = otherThanText(manifest) ?? fromCluster(manifest) ?? objectFault(manifest);
    return other === undefined ? [] : [`${placeOf(manifest)}: ${printable(other)}`];
  }
  return [
    `${placeOf(manifest)}: ${printable(path)}: expected a value, found a placeholder of a template. Render the template, and put the result here.`,
  ];
}

/** The API creates no object with the version of a stored one (apiserver, storage.ErrResourceVersionSetOnCreate). */
function fromCluster({ object: { metadata } }: Manifest): string | undefined {
  const version = isRecord(metadata) ? metadata.resourceVersion : undefined;
  if (version === undefined || version === null || version === '' || version === '0')
    return undefined;
  return 'metadata.resourceVersion: expected a manifest, found an object out of a cluster. Remove metadata.resourceVersion, uid, creationTimestamp and status.';
}

/**
 * The documents as JSON, which is YAML, each on its original line, so that the
 * bootstrap's messages name the right line.
 */
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

/** For one file; a single mistake can break a thousand documents of a stream. */
const MAX_FAULTS_OF_A_FILE = 10;
const MAX_REASON_CHARACTERS = 300;

function undecodableFaults(
  undecodable: readonly UndecodableManifest[],
  hasBraces: boolean,
): string[] {
  const hint = hasBraces ? ' The file has {{ }}: if it is a template, render it first.' : '';
  const faults = undecodable
    .slice(0, MAX_FAULTS_OF_A_FILE)
    .map(({ file, line, reason }) => `${file}:${line}: ${printable(reason)}${hint}`);
  const more = undecodable.length - faults.length;
  const [first] = undecodable;
  return more === 0 || first === undefined
    ? faults
    : [...faults, `${first.file}: ${more} more documents cannot be decoded`];
}

/** On one line and without control characters. */
function printable(reason: string): string {
  return reason
    .slice(0, MAX_REASON_CHARACTERS)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

const placeOf = ({ file, line }: Manifest) => `${file}:${line}`;

function noticeOf(manifest: Manifest): string {
  const { kind, namespace, name, apiVersion } = manifest;
  const object = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  const hours = defaultSettings.deferredExpiryHours;
  return `deferred: ${object} (${placeOf(manifest)}). Nothing serves ${apiVersion} during the bootstrap; it will be applied when its kind is served, within ${hours} h after the installation`;
}
