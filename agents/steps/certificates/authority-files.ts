import { type KeyPair, mayCertifyAuthorities, type Successor } from '../../../lib/pki/authority.ts';
import {
  certificatesIn,
  inspectCertificate,
  parseCertificate,
} from '../../../lib/pki/certificate.ts';
import { rekeyLeaf } from '../../../lib/pki/leaf.ts';
import { type AuthorityName, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { type RotatableLeaf, rotatableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../../lib/render/kubernetes/trust.ts';
import type { FileChange, Staged } from './changes.ts';
import { isRefusedByAnswer } from './prove.ts';

/** The text of a file of the host; undefined if this host does not have it. */
export type ReadText = (path: string) => Promise<string | undefined>;

/** Authorities that get the place of those that the host has. */
export type Replaced<Next extends KeyPair = KeyPair> = ReadonlyMap<
  AuthorityName,
  { readonly old: KeyPair; readonly next: Next }
>;

/** The files with trusted authorities, with those that are trusted in the place of each; `laptop` is the laptop's, if trusted. */
export async function trustChanges(
  replaced: Replaced,
  read: ReadText,
  trusted: (pair: { old: KeyPair; next: KeyPair }) => readonly KeyPair[],
  laptop: string | undefined,
): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (const { path, authorities, trustsLaptop } of trustFiles) {
    const isConcerned = authorities.some((name) => replaced.has(name));
    if (!isConcerned || (await read(path)) === undefined) continue;
    const texts = [];
    for (const name of authorities) {
      const pair = replaced.get(name);
      texts.push(
        ...(pair === undefined
          ? [await required(read, authorityPaths(name).certificate)]
          : trusted(pair).map(({ certificate }) => certificate)),
      );
    }
    if (trustsLaptop && laptop !== undefined) texts.push(laptop);
    changes.push({ path, contents: texts.join(''), mode: 0o644 });
  }
  return changes;
}

/** The authorities themselves. */
export const signerChanges = (replaced: Replaced): FileChange[] =>
  [...replaced].flatMap(([name, { next }]) => {
    const { certificate, key } = authorityPaths(name);
    return [
      { path: key, contents: next.key, mode: 0o600 },
      { path: certificate, contents: next.certificate, mode: 0o644 },
    ];
  });

/** Every leaf of the host signed by the new authorities, with a new key; `retired` is to be refused afterwards. */
export async function leafChanges(replaced: Replaced<Successor>, read: ReadText, now: Date) {
  const changes: FileChange[] = [];
  const retired: Staged['retired'] = [];
  for (const leaf of rotatableLeaves) {
    const pair = replaced.get(leaf.authority);
    const old = await read(leaf.certificate);
    if (pair === undefined || old === undefined) continue;
    const fresh = await rekeyLeaf(old, pair.next, now);
    const chain = inspectCertificate(old).serverAuth ? crossesOf(old, pair) : '';
    changes.push(...filesOf(leaf, { ...fresh, certificate: fresh.certificate + chain }));
    if (isRefusedByAnswer(leaf)) {
      const key = await required(read, leaf.key);
      retired.push({ name: leaf.name, certificate: old, key });
    }
  }
  return { changes, retired };
}

/**
 * What is presented behind a certificate of the new authority: its own by the old one, and that of the
 * old one by the one before, if it may have another below it: the laptop's first kubeconfig knows only
 * the authority of the medium.
 */
function crossesOf(leaf: string, { old, next }: { old: KeyPair; next: Successor }): string {
  if (next.cross === undefined) return '';
  const subject = parseCertificate(old.certificate).subject;
  const before = certificatesIn(leaf).filter(
    (pem) => parseCertificate(pem).subject === subject && mayCertifyAuthorities(pem),
  );
  return [next.cross, ...before].join('');
}

function filesOf(leaf: RotatableLeaf, { certificate, key }: KeyPair): FileChange[] {
  if (leaf.certificate === leaf.key) {
    return [{ path: leaf.certificate, contents: certificate + key, mode: 0o600 }];
  }
  return [
    { path: leaf.key, contents: key, mode: 0o600 },
    { path: leaf.certificate, contents: certificate, mode: 0o644 },
  ];
}

export async function required(read: ReadText, path: string): Promise<string> {
  const text = await read(path);
  if (text === undefined) throw new Error(`${path} does not exist`);
  return text;
}
