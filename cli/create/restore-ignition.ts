import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Failure } from '../../lib/base/errors/failure.ts';
import { builtVersion } from '../../lib/base/version.ts';
import {
  type AuthorOptions,
  acceptedAuthor,
} from '../../lib/change/backup/portable/accepted-author.ts';
import type { AcceptedAuthor } from '../../lib/change/backup/portable/author.ts';
import type { PortableHeader } from '../../lib/change/backup/portable/header.ts';
import { readPortable } from '../../lib/change/backup/portable/read.ts';
import { decrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import { archiveOf } from '../../lib/change/backup/portable/write.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { networkNotices } from '../../lib/config/site/nmstate/notices.ts';
import { readGivenFile, requireRegularFile } from '../../lib/host/given-file.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import type { KeyPair } from '../../lib/pki/authority.ts';
import { createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { publicKeyOf } from '../../lib/pki/signature/ssh-keys.ts';
import { authorityPaths } from '../../lib/render/kubernetes/authorities.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AdditionOptions, readAdditions, withAdditions } from './additions.ts';
import { aioIgnitionConfig } from './aio-ignition-config.ts';
import { kibibytes } from './embed-area.ts';
import {
  attempting,
  inspectSources,
  optionFaults,
  type SourceOptions,
  writeAll,
} from './host-sources.ts';
import { requireAbsent } from './outputs.ts';
import { faultsIn } from './read-folder.ts';
import { restoreFaults } from './restorable.ts';
import { clusterElsewhere, type PlaceOptions } from './restore-place.ts';
import { soundText } from './sound-text.ts';

/** In the folder given with --dir. */
const RESTORE_IGNITION_NAME = 'restore.ign';
/** As container tools store it. */
const NO_PULL_SECRET = '{"auths":{}}';

export interface RestoreIgnitionOptions
  extends SourceOptions,
    PlaceOptions,
    AuthorOptions,
    AdditionOptions {
  /** The folder for the outputs. */
  dir: string;
  /** What "sno-backup create --to" wrote. */
  backup: string;
  /** The file with the secret key of a recipient. */
  identity: string;
  keepAuthorities?: boolean;
}

/** A whole backup in memory, every file compared with the manifest. */
interface ReadBackup {
  readonly header: PortableHeader;
  readonly author: AcceptedAuthor;
  /** By their paths in the backup. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/**
 * `sno create restore-ignition`: creates the Ignition config of an all-in-one host that installs itself on other hardware
 * and continues the cluster of a lost host, from its backup, which is in the config in the clear. The administrator in
 * auth/kubeconfig is a new one.
 * @throws Failure (usage), with nothing written, that names every fault of the backup and the options
 */
export async function createRestoreIgnition(
  options: RestoreIgnitionOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir, keepAuthorities = false } = options;
  const { print, wrote, notice, signal } = surroundings;
  const ignition = join(dir, RESTORE_IGNITION_NAME);
  const kubeconfig = join(dir, 'auth', 'kubeconfig');
  const { backup, cluster, sources, additions } = await inspect(
    options,
    [ignition, kubeconfig],
    surroundings,
  );
  const { header } = backup;
  const domain = clusterDomain(cluster);
  const serving = keepAuthorities ? keptServing(backup) : undefined;
  const credentials = await createLaptopCredentials(domain, cluster.name, { serving });
  const ours = aioIgnitionConfig({
    cluster: { ...cluster, ...sources.payload, executableSha256: sources.executableSha256 },
    authorities: credentials.authorities,
    pullSecret: header.pullSecret ?? NO_PULL_SECRET,
    // They are in the database.
    manifests: [],
    deferred: [],
    lostHost: {
      archive: await archiveOfBackup(backup, signal),
      keepsAuthorities: keepAuthorities,
      settings: header.settings,
    },
    ...(options.agentsUrl === undefined ? {} : { executableUrl: options.agentsUrl }),
  });
  const text = soundText(withAdditions(ours, additions));
  requireSize(text);
  signal.throwIfAborted();
  const outputs = [
    { path: kubeconfig, contents: credentials.kubeconfig },
    { path: ignition, contents: text },
  ];
  await writeAll(outputs, sources.medium, surroundings);
  const { host } = header.renderInput;
  wrote(ignition, kibibytes(Buffer.byteLength(text)));
  wrote(kubeconfig, `for https://api.${domain}:6443`);
  print(
    `Backup: of ${host.hostname}, made ${header.at}, etcd at revision ${header.manifest.etcd.revision}`,
  );
  print(`Payload: on ${sources.payload.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`}`);
  for (const text of [
    ...noticesOf(backup, cluster.hostname, keepAuthorities),
    ...networkNotices(cluster.networkConfig),
    ...sources.payloadNotices,
    ...additions.notices,
  ])
    notice(text);
}

async function inspect(
  options: RestoreIgnitionOptions,
  outputs: readonly string[],
  surroundings: Surroundings,
) {
  const { signal } = surroundings;
  const faults: string[] = [];
  const attempt = attempting(faults);
  await attempt(() => requireAbsent(outputs));
  const backup = await attempt(() => readBackup(options, signal));
  const lost = backup?.header.payload;
  // Without one, the host gets the payload of the lost one.
  const pinned =
    options.payload === undefined && options.payloadSha256 === undefined && lost !== undefined
      ? { ...options, payloadSha256: lost.sha256 }
      : options;
  if (backup !== undefined) faults.push(...optionFaults(pinned));
  const sources = await inspectSources(
    pinned,
    { architecture: lost?.description.architecture, use: 'run' },
    attempt,
    surroundings,
  );
  const { payload: folder } = options;
  const versions =
    folder === undefined ? undefined : (await attempt(() => readPayload(folder)))?.versions;
  if (backup === undefined) throw faultsIn(options.backup, faults);
  const keepsAuthorities = options.keepAuthorities === true;
  const request = {
    ...options,
    keepsAuthorities,
    version: builtVersion,
    ...(versions && { versions }),
  };
  faults.push(...restoreFaults(backup.header, request));
  const additions = await attempt(() => readAdditions(options, signal));
  const cluster = await attempt(() =>
    clusterElsewhere(backup.header.renderInput, options, surroundings.signal),
  );
  if (
    faults.length > 0 ||
    cluster === undefined ||
    sources === undefined ||
    additions === undefined
  ) {
    throw faultsIn(options.backup, [...new Set(faults)]);
  }
  return { backup, cluster, sources, additions };
}

async function readBackup(
  { backup, identity, signer, acceptUnsigned }: RestoreIgnitionOptions,
  signal: AbortSignal,
): Promise<ReadBackup> {
  await requireRegularFile(backup, 'the backup');
  const author = await acceptedAuthor({ signer, acceptUnsigned }, signal);
  const decrypter = decrypterFor(await readGivenFile(identity, '--identity', { signal }), identity);
  const contents = new Map<string, Buffer>();
  const { header } = await readPortable(
    backup,
    { decrypter, author },
    {
      async file({ path }, pieces) {
        contents.set(path, await buffer(pieces));
      },
    },
    signal,
  );
  return { header, author, contents };
}

const archiveOfBackup = ({ header, contents }: ReadBackup, signal: AbortSignal): Promise<Buffer> =>
  buffer(archiveOf(header, ({ path }) => contents.get(path) ?? Buffer.alloc(0), undefined, signal));

function keptServing({ header, contents }: ReadBackup): KeyPair {
  const textOf = (host: string): string => {
    const copy = header.manifest.files.find((file) => file.host === host);
    return contents.get(copy?.path ?? '')?.toString('utf8') ?? '';
  };
  const { certificate, key } = authorityPaths('serving');
  return { certificate: textOf(certificate), key: textOf(key) };
}

/** It has to fit the boot partition, as that of a live host. */
function requireSize(text: string): void {
  const [most, found] = [
    defaultSettings.maxIgnitionMiB,
    Math.ceil(Buffer.byteLength(text) / 2 ** 20),
  ];
  if (found <= most) return;
  throw new Failure(
    'usage',
    'the backup is too large for an Ignition config; nothing was written',
    {
      expected: `a config of at most ${most} MiB`,
      found: `${found} MiB`,
      fix: 'Install the host with "sno create aio-ignition", and restore there with "sno-backup restore --new-host".',
    },
  );
}

function noticesOf(
  { header, author }: ReadBackup,
  hostname: string | undefined,
  keepsAuthorities: boolean,
): string[] {
  return [
    ...(author.kind === 'host' ? [] : [unknownAuthor(header)]),
    `${RESTORE_IGNITION_NAME} has the backup in the clear, with every key of the lost host: destroy it and its copies when the host is installed`,
    'the contents of persistent volumes are not in a backup: connect the data disk before the first boot',
    ...(keepsAuthorities
      ? ['the authorities of the lost host are kept: whoever has its disk is trusted']
      : []),
    ...(header.pullSecret === undefined
      ? ['the backup has no pull secret: the host gets none']
      : []),
    ...(hostname === undefined
      ? ['no hostname: the node gets the name that DHCP or DNS provides at the first boot']
      : []),
  ];
}

/** Whoever made it decides who logs in. Nothing else of a key is shown: a comment may be anything. */
function unknownAuthor({ renderInput: { cluster } }: PortableHeader): string {
  const keys = cluster.sshKeys.flatMap((line) => publicKeyOf(line) ?? []).map(fingerprintOf);
  return `nothing shows who made the backup, and whom it lets log in: look at its ${keys.length === 1 ? 'SSH key' : `${keys.length} SSH keys`} (${keys.join(', ') || 'none'})`;
}

/** As "ssh-keygen -l" prints it. */
function fingerprintOf(publicKey: string): string {
  const [, body = ''] = publicKey.split(' ');
  const digest = createHash('sha256').update(Buffer.from(body, 'base64')).digest('base64');
  return `SHA256:${digest.replaceAll('=', '')}`;
}
