import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import type { Test } from 'tap';
import {
  type AcceptedAuthor,
  type BackupSigner,
  signHeader,
} from '../../../../lib/change/backup/portable/author.ts';
import type { PortableHeader } from '../../../../lib/change/backup/portable/header.ts';
import { decrypterFor, encrypterFor } from '../../../../lib/change/backup/portable/recipients.ts';
import {
  type ContentsOf,
  type Sign,
  writePortable,
} from '../../../../lib/change/backup/portable/write.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { storedRenderInput } from '../../../../lib/render/render-input.ts';
import { cluster } from '../../agents/host/cluster.ts';
import { freshFolder } from '../../engine/steps/fresh-folder.ts';
import { input, textAt } from '../../render/rendered-host.ts';
import { writeBackup } from './backup-folder.ts';

export const KEY_FILE = 'host/etc/kubernetes/pki/ca/etcd/ca.key';
export const KEY = 'the key of etcd';

/** A key pair of age: what `--identity` and `--recipient` are given. */
export async function ageKeys(): Promise<{ identity: string; recipient: string }> {
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** By what a laptop knows the rendered host, and how that host signs. */
export const SIGNER: BackupSigner = {
  schemaVersion: 1,
  clusterId: cluster.clusterId,
  certificate: textAt(authorityPaths('admin').certificate),
};
export const SIGNS: Sign = (text) => signHeader(text, textAt(authorityPaths('admin').key));
export const BY_HOST: AcceptedAuthor = { kind: 'host', signer: SIGNER, file: 'signer.json' };

const file = { size: 1, sha256: '0'.repeat(64) };
const image = { reference: 'registry.k8s.io/etcd:3.6.8-0', id: `sha256:${'e'.repeat(64)}` };

/** The header of a backup with these files. */
export const headerOf = (manifest: PortableHeader['manifest']): PortableHeader => ({
  schemaVersion: 2,
  version: '1.2.3',
  at: '2030-01-02T03:05:00.000Z',
  renderInput: storedRenderInput(input),
  payload: {
    sha256: 'b'.repeat(64),
    description: {
      apiVersion: 'sno-agents/v1',
      kind: 'Payload',
      architecture: 'amd64',
      versions: { kubernetes: 'v1.34.4', etcd: 'v3.6.8' },
      images: [{ name: 'etcd', ...image, archive: 'images/etcd.tar', ...file }],
      binaries: [{ name: 'kubelet', kind: 'host', file: 'bin/kubelet', ...file }],
    },
  },
  manifest,
});

/** The contents of a backup's files, in its folder. */
export const filesIn =
  (folder: string): ContentsOf =>
  ({ path }) =>
    join(folder, path);

/** A portable backup for one recipient; `change` changes what it says of its files. */
export async function portableBackup(
  t: Test,
  change: (header: PortableHeader) => PortableHeader = (header) => header,
  files: Readonly<Record<string, string>> = { [KEY_FILE]: KEY },
  signs: Sign | 'unsigned' = SIGNS,
) {
  const folder = join(freshFolder(t), 'backup');
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  const keys = await ageKeys();
  const header = change(headerOf(writeBackup(folder, files)));
  const to = join(folder, '../portable.age');
  const encrypter = encrypterFor([keys.recipient]);
  const { signal } = new AbortController();
  // Of a file that only the changed manifest lists, the contents are those of the key.
  const contentsOf: ContentsOf = (file) => {
    const path = join(folder, file.path);
    return existsSync(path) && statSync(path).isFile() ? path : Buffer.from(KEY);
  };
  const written = {
    header,
    contentsOf,
    signs: signs === 'unsigned' ? undefined : signs,
    encrypter,
  };
  const { bytes } = await writePortable(to, written, signal);
  const decrypter = decrypterFor(keys.identity, 'key.txt');
  const opening = { decrypter, author: BY_HOST };
  return { folder, to, header, bytes, opening, ...keys };
}
