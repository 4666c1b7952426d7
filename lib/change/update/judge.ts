import { Failure } from '../../base/errors/failure.ts';
import type { Architecture } from '../../host/architecture.ts';
import type { UpdateManifest } from './manifest.ts';
import { isOlder, numbersOf } from './version.ts';

/** What a host runs. */
export interface InstalledVersions {
  readonly architecture: Architecture | undefined;
  readonly executable: { readonly version: string; readonly sha256: string };
  readonly payload: {
    readonly versions: { readonly kubernetes: string; readonly etcd: string };
    readonly sha256: string;
  };
  /** Of the last update that stayed; undefined if it had none. */
  readonly serial?: number | undefined;
}

/** Whether the update is what the host runs. */
export const isInstalledUpdate = (
  { executable, payload }: UpdateManifest,
  installed: InstalledVersions,
): boolean =>
  executable.sha256 === installed.executable.sha256 && payload.sha256 === installed.payload.sha256;

/**
 * @throws Failure (usage, `update-refused`) with every reason why a host with these versions must not
 *   get the update: it may go back to what it has only if both can read the same database and files.
 */
export function requireSuitable(
  update: UpdateManifest,
  installed: InstalledVersions,
  now: Date = new Date(),
): void {
  const { executable, payload } = update;
  const reasons = [
    ...(update.architecture === installed.architecture
      ? []
      : [`it is for ${update.architecture}, and this host is ${installed.architecture}`]),
    ...olderThan('sno-agents', executable.version, installed.executable.version),
    ...(['kubernetes', 'etcd'] as const).flatMap((name) =>
      notInMinor(name, payload.versions[name], installed.payload.versions[name]),
    ),
    ...replayed(update.serial, installed.serial),
    ...expired(update.expires, now),
  ];
  if (reasons.length === 0) return;
  throw new Failure('usage', 'the update is not one for this host', {
    code: 'update-refused',
    expected: `architecture ${installed.architecture}; sno-agents ${installed.executable.version}, Kubernetes ${installed.payload.versions.kubernetes} and etcd ${installed.payload.versions.etcd} or newer, of the same minor versions`,
    found: reasons.join('; '),
    fix: 'Nothing was changed. Choose the update for this host.',
  });
}

/** A signature stays valid for ever: what was signed before the update in use is not taken again. */
function replayed(next: number | undefined, present: number | undefined): string[] {
  if (present === undefined || (next !== undefined && next >= present)) return [];
  return [
    next === undefined
      ? `it has no serial, and this host has taken the serial ${present}`
      : `its serial ${next} is older than ${present}, which this host has taken`,
  ];
}

function expired(expires: string | undefined, now: Date): string[] {
  return expires === undefined || now < new Date(expires)
    ? []
    : [`it has expired at ${expires}, and it is ${now.toISOString()}`];
}

function olderThan(name: string, next: string, present: string): string[] {
  const older = isOlder(next, present);
  if (older === undefined) return [`${name} ${next} cannot be compared`];
  return older ? [`${name} ${next} is older than ${present}`] : [];
}

function notInMinor(name: string, next: string, present: string): string[] {
  const [a, b] = [numbersOf(next), numbersOf(present)];
  if (a === undefined || b === undefined) return [`${name} ${next} cannot be compared`];
  if (a[0] !== b[0] || a[1] !== b[1]) {
    return [`${name} ${next} is of another minor version than ${present}`];
  }
  return olderThan(name, next, present);
}
