import { Failure } from '../errors/failure.ts';
import type { Architecture } from '../host/architecture.ts';
import type { UpdateManifest } from './manifest.ts';
import { compareNumbers, numbersOf } from './version.ts';

/** What a host runs. */
export interface InstalledVersions {
  readonly architecture: Architecture | undefined;
  readonly executable: { readonly version: string; readonly sha256: string };
  readonly payload: {
    readonly versions: { readonly kubernetes: string; readonly etcd: string };
    readonly sha256: string;
  };
}

/** Whether the update is what the host runs. */
export const isInstalled = (
  { executable, payload }: UpdateManifest,
  installed: InstalledVersions,
): boolean =>
  executable.sha256 === installed.executable.sha256 && payload.sha256 === installed.payload.sha256;

/**
 * @throws Failure (usage, `update-refused`) with every reason why a host with these versions must not
 *   get the update: it may go back to what it has only if both can read the same database and files.
 */
export function requireSuitable(update: UpdateManifest, installed: InstalledVersions): void {
  const { executable, payload } = update;
  const reasons = [
    ...(update.architecture === installed.architecture
      ? []
      : [`it is for ${update.architecture}, and this host is ${installed.architecture}`]),
    ...olderThan('sno-agents', executable.version, installed.executable.version),
    ...(['kubernetes', 'etcd'] as const).flatMap((name) =>
      notInMinor(name, payload.versions[name], installed.payload.versions[name]),
    ),
  ];
  if (reasons.length === 0) return;
  throw new Failure('usage', 'the update is not one for this host', {
    code: 'update-refused',
    expected: `architecture ${installed.architecture}; sno-agents ${installed.executable.version}, Kubernetes ${installed.payload.versions.kubernetes} and etcd ${installed.payload.versions.etcd} or newer, of the same minor versions`,
    found: reasons.join('; '),
    fix: 'Nothing was changed. Choose the update for this host.',
  });
}

function olderThan(name: string, next: string, present: string): string[] {
  const [a, b] = [numbersOf(next), numbersOf(present)];
  if (a === undefined || b === undefined) return [`${name} ${next} cannot be compared`];
  return compareNumbers(a, b) < 0 ? [`${name} ${next} is older than ${present}`] : [];
}

function notInMinor(name: string, next: string, present: string): string[] {
  const [a, b] = [numbersOf(next), numbersOf(present)];
  if (a === undefined || b === undefined) return [`${name} ${next} cannot be compared`];
  if (a[0] !== b[0] || a[1] !== b[1]) {
    return [`${name} ${next} is of another minor version than ${present}`];
  }
  return compareNumbers(a, b) < 0 ? [`${name} ${next} is older than ${present}`] : [];
}
