import { readSigner } from '../../lib/change/backup/portable/accepted-author.ts';
import { HEADER_FILE, type PortableHeader } from '../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../lib/change/backup/portable/read.ts';
import { decrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { readGivenFile, requireRegularFile } from '../../lib/host/given-file.ts';
import type { Surroundings } from '../surroundings.ts';

export interface VerifyBackupOptions {
  readonly identity: string;
  /** Without it, the author is not compared. */
  readonly signer?: string;
  readonly json?: boolean;
}

/**
 * `sno verify backup FILE --identity KEYFILE`: reads every byte of it, and prints what it has. Nothing
 * is written, and no key is printed.
 *
 * @throws Failure (usage) if it cannot be decrypted, or is damaged.
 */
export async function verifyPortableBackup(
  path: string,
  { identity, signer, json = false }: VerifyBackupOptions,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  await requireRegularFile(path, 'the backup');
  const decrypter = decrypterFor(await readGivenFile(identity, '--identity', { signal }), identity);
  const author =
    signer === undefined
      ? ({ kind: 'not-compared' } as const)
      : ({ kind: 'host', signer: await readSigner(signer, signal), file: signer } as const);
  const { header, isSigned } = await readPortable(path, { decrypter, author }, {}, signal);
  const by = author.kind === 'host' ? 'host' : isSigned ? 'not-compared' : 'unknown';
  if (json) print(JSON.stringify(shown(header, by), null, 2));
  else for (const line of summary(header, by)) print(line);
}

/** Who made it: the host of --signer, somebody who has signed it, or nobody knows whom. */
type By = 'host' | 'not-compared' | 'unknown';

const AUTHORS: Readonly<Record<By, string>> = {
  host: 'the host of --signer has signed it',
  'not-compared': 'not compared: give --signer with auth/backup-signer.json of the host',
  unknown: 'not known: it is not signed. Anybody who knows a recipient can make such a backup',
};

/** Without the proxy, whose URL may contain a password, and settings that nobody looks for here. */
function shown({ version, at, renderInput, payload, manifest }: PortableHeader, author: By) {
  const { cluster, host } = renderInput;
  return {
    schemaVersion: 1,
    file: HEADER_FILE,
    version,
    at,
    author,
    cluster: { id: cluster.clusterId, domain: clusterDomain(cluster) },
    host: { name: host.hostname, addresses: host.nodeIps },
    payload: { sha256: payload.sha256, versions: payload.description.versions },
    etcd: manifest.etcd,
    files: manifest.files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    persistentVolumes: 'not included',
  };
}

function summary(header: PortableHeader, by: By): string[] {
  const { at, cluster, host, payload, etcd, files } = shown(header, by);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return [
    `cluster   ${cluster.domain} (${cluster.id})`,
    `host      ${host.name}, ${host.addresses.join(', ')}`,
    `made      ${at}, etcd at revision ${etcd.revision}`,
    `author    ${AUTHORS[by]}`,
    `payload   Kubernetes ${payload.versions.kubernetes}, etcd ${payload.versions.etcd}; SHA-256 of payload.yaml ${payload.sha256}`,
    `contents  ${files.length} files, ${Math.ceil(bytes / 2 ** 20)} MiB, every digest as in the manifest`,
    'It does not have the contents of persistent volumes.',
  ];
}
