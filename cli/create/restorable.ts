import { describeError } from '../../lib/base/errors/failure.ts';
import { sizeOf } from '../../lib/change/backup/manifest.ts';
import { missingAuthorities } from '../../lib/change/backup/portable/authorities.ts';
import type { PortableHeader } from '../../lib/change/backup/portable/header.ts';
import { type PayloadVersions, successionFaults } from '../../lib/change/update/successor.ts';
import { isOlder } from '../../lib/change/update/version.ts';
import { parseSettings } from '../../lib/host/settings.ts';
import type { SourceOptions } from './host-sources.ts';

const MIB = 2 ** 20;
/** A database with more is rare on one node, and Ignition reads a config into memory as a whole. */
const MAX_BACKUP_MIB = 256;

/** What a backup is compared with. */
export interface RestoreInput extends Pick<SourceOptions, 'payload' | 'payloadSha256'> {
  readonly keepsAuthorities: boolean;
  /** Of this program; undefined when run from source, which is compared with nothing. */
  readonly version: string | undefined;
  /** In the folder given with --payload. */
  readonly versions?: PayloadVersions;
}

/** Every reason why a host cannot be installed from this backup, one sentence each. */
export function restoreFaults(header: PortableHeader, request: RestoreInput): string[] {
  const { controlPlane, relocatable } = header.renderInput.cluster;
  return [
    ...(controlPlane === 'openshift'
      ? ['the backup is of an OpenShift cluster, whose operators have recovery of their own']
      : []),
    ...(relocatable === true
      ? [
          'the backup is of a relocatable node: install another one in the factory, and restore there with "sno-backup restore --new-host"',
        ]
      : []),
    ...newerThan(header.version, request.version),
    ...payloadFaults(header, request),
    ...authorityFaults(header, request),
    ...settingsFaults(header),
    ...(sizeOf(header.manifest) <= MAX_BACKUP_MIB * MIB
      ? []
      : [
          `the backup is too large for an Ignition config: expected at most ${MAX_BACKUP_MIB} MiB, found ${Math.ceil(sizeOf(header.manifest) / MIB)} MiB. Install the host with "sno create aio-ignition", and restore there with "sno-backup restore --new-host"`,
        ]),
  ];
}

/** What a newer release has written, an older one cannot judge. */
function newerThan(made: string, own = ''): string[] {
  if (isOlder(own, made) !== true) return [];
  return [`the backup was made by sno-agents ${made}: use sno of that release, this is ${own}`];
}

/** The database is read by what may also follow as an update. */
function payloadFaults({ payload }: PortableHeader, request: RestoreInput): string[] {
  const { payload: folder, payloadSha256, versions } = request;
  if (folder === undefined) {
    return payloadSha256 === undefined || payloadSha256 === payload.sha256
      ? []
      : [
          `--payload-sha256: expected ${payload.sha256}, the payload of the lost host. Use --payload for another one, so that its versions can be compared`,
        ];
  }
  if (versions === undefined) return [];
  return successionFaults(versions, payload.description.versions).map(
    ({ found, fix }) => `--payload: compared with the lost host, ${found}. ${fix}`,
  );
}

function authorityFaults({ manifest }: PortableHeader, request: RestoreInput): string[] {
  const missing = request.keepsAuthorities ? missingAuthorities(manifest) : [];
  return missing.length === 0
    ? []
    : [`--keep-authorities: the backup has no ${missing.join(', ')}. Leave the option out`];
}

function settingsFaults({ settings }: PortableHeader): string[] {
  if (settings === undefined) return [];
  try {
    parseSettings('settings.json of the backup', JSON.stringify(settings));
    return [];
  } catch (error) {
    return [describeError(error)];
  }
}
