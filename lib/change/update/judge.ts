import { Failure } from '../../base/errors/failure.ts';
import { minorOf } from '../../base/minor.ts';
import type { Architecture } from '../../host/architecture.ts';
import type { UpdateManifest } from './manifest.ts';
import {
  minorsChanged,
  type Obstacle,
  type PayloadVersions,
  successionFaults,
  workerSuccessionFaults,
} from './successor.ts';
import { isOlder } from './version.ts';

/** What a host runs. */
export interface InstalledVersions {
  /** Without a control plane of its own. */
  readonly isWorker?: boolean;
  readonly architecture: Architecture | undefined;
  readonly executable: { readonly version: string; readonly sha256: string };
  readonly payload: {
    readonly versions: PayloadVersions;
    readonly sha256: string;
  };
  /** The earlier minor version that its control plane still emulates, since its last update could not end that. */
  readonly emulates?: string | undefined;
  /** Of the last update that stayed; undefined if it had none. */
  readonly serial?: number | undefined;
}

/** Whether the update is what the host runs. */
export const isInstalledUpdate = (
  { executable, payload }: UpdateManifest,
  installed: InstalledVersions,
): boolean =>
  installed.emulates === undefined &&
  executable.sha256 === installed.executable.sha256 &&
  payload.sha256 === installed.payload.sha256;

/**
 * Every reason why a host with these versions must not get the update: it may go back to what it has only if both can
 * read the same database and files.
 */
export function updateFaults(
  update: UpdateManifest,
  installed: InstalledVersions,
  now: Date = new Date(),
): Obstacle[] {
  const { executable, payload } = update;
  return [
    ...(update.architecture === installed.architecture
      ? []
      : [another(`it is for ${update.architecture}, and this host is ${installed.architecture}`)]),
    ...olderThan('sno-agents', executable.version, installed.executable.version),
    ...(installed.isWorker === true ? workerSuccessionFaults : successionFaults)(
      payload.versions,
      installed.payload.versions,
    ),
    ...unfinished(update, installed),
    ...replayed(update.serial, installed.serial),
    ...expired(update.expires, now),
  ];
}

/** @throws Failure (usage, `update-refused`) that names every obstacle, and what to do about each */
export function refuseFor(obstacles: readonly Obstacle[]): void {
  if (obstacles.length === 0) return;
  const fixes = new Set(obstacles.map(({ fix }) => fix));
  throw new Failure('usage', 'the update is not one for this host', {
    code: 'update-refused',
    found: obstacles.map(({ found }) => found).join('; '),
    fix: ['Nothing was changed.', ...fixes].join(' '),
  });
}

const another = (found: string): Obstacle => ({ found, fix: 'Choose the update for this host.' });

function unfinished(
  { payload }: UpdateManifest,
  { emulates, payload: { versions } }: InstalledVersions,
): Obstacle[] {
  if (emulates === undefined || minorsChanged(payload.versions, versions).length === 0) return [];
  return [
    {
      found: `the control plane still emulates Kubernetes ${emulates}`,
      fix: `Run an update of Kubernetes ${minorOf(versions.kubernetes)} first: the last one again, or a newer patch release.`,
    },
  ];
}

/** A signature stays valid for ever: what was signed before the update in use is not taken again. */
function replayed(next: number | undefined, present: number | undefined): Obstacle[] {
  if (present === undefined || (next !== undefined && next >= present)) return [];
  return [
    another(
      next === undefined
        ? `it has no serial, and this host has taken the serial ${present}`
        : `its serial ${next} is older than ${present}, which this host has taken`,
    ),
  ];
}

function expired(expires: string | undefined, now: Date): Obstacle[] {
  if (expires === undefined || now < new Date(expires)) return [];
  const found = `it has expired at ${expires}, and it is ${now.toISOString()}`;
  return [{ found, fix: 'Create the update again.' }];
}

function olderThan(name: string, next: string, present: string): Obstacle[] {
  const older = isOlder(next, present);
  if (older === undefined) return [another(`${name} ${next} cannot be compared`)];
  return older ? [another(`${name} ${next} is older than ${present}`)] : [];
}
