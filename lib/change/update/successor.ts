import { compareMinors, type Minor, minorOf } from '../../base/minor.ts';
import { isOlder, numbersOf } from './version.ts';

/** Of a payload. */
export interface PayloadVersions {
  readonly kubernetes: string;
  readonly etcd: string;
}

/** A reason why something may not follow what is in use, and what may. Sentences. */
export interface Obstacle {
  readonly found: string;
  readonly fix: string;
}

const NAMES = { kubernetes: 'Kubernetes', etcd: 'etcd' } as const;
type Part = keyof typeof NAMES;

/** What must run before a minor version of etcd: earlier ones hand their members over wrongly (etcd.io, upgrade_3_7). */
const ETCD_BEFORE: Readonly<Record<Minor, string>> = { '3.7': '3.6.11' };

/** A kubelet may be older than its API server by that many minor versions (kubernetes.io, version skew policy). */
const KUBELET_MINORS = 3;

/**
 * Why a payload with these versions may not follow another one on the same database. Patch releases go on, and one of
 * Kubernetes and etcd may go to its next minor version: nothing reads what is two minor versions older, nothing older reads
 * what a newer one has written, and one step at a time has a way back. Empty: it may.
 */
export function successionFaults(next: PayloadVersions, present: PayloadVersions): Obstacle[] {
  const faults = [...partFaults('kubernetes', next, present), ...partFaults('etcd', next, present)];
  if (faults.length > 0 || minorsChanged(next, present).length < 2) return faults;
  return [
    {
      found: `Kubernetes ${next.kubernetes} and etcd ${next.etcd} are both of the next minor version`,
      fix: `Take Kubernetes ${minorOf(next.kubernetes)} with etcd ${minorOf(present.etcd)} first, then etcd ${minorOf(next.etcd)}.`,
    },
  ];
}

/**
 * Why a worker may not get it. It has no database, and a kubelet may be several minor versions older than
 * its API server: it may skip some. What is newer than the API server is refused by `newerThanApi`.
 */
export const workerSuccessionFaults = (
  next: PayloadVersions,
  present: PayloadVersions,
): Obstacle[] => olderFaults('kubernetes', next.kubernetes, present.kubernetes);

/** A kubelet must not be newer than its API server, which may still emulate its earlier minor version. */
export function newerThanApi(kubernetes: string, api: Minor): Obstacle[] {
  const next = minorOf(kubernetes);
  if (next === undefined || compareMinors(next, api) <= 0) return [];
  return [
    {
      found: `Kubernetes ${kubernetes} is newer than the API server, which serves as ${api}`,
      fix: 'Update the control-plane host first, and wait until its update is confirmed.',
    },
  ];
}

/** Whose minor version is another one. */
export const minorsChanged = (next: PayloadVersions, present: PayloadVersions): Part[] =>
  (['kubernetes', 'etcd'] as const).filter(
    (part) => minorOf(next[part]) !== minorOf(present[part]),
  );

/** From which versions a payload may be taken, for people. */
export function predecessors({ kubernetes, etcd }: PayloadVersions): string {
  const [k8s, database] = [numbersOf(kubernetes), numbersOf(etcd)];
  if (k8s === undefined || database === undefined) return 'no versions that can be compared';
  const least = ETCD_BEFORE[`${database[0]}.${database[1]}`];
  return [
    `Kubernetes ${k8s[0]}.${k8s[1] - 1} or ${k8s[0]}.${k8s[1]}`,
    `etcd ${least ?? `${database[0]}.${database[1] - 1}`} or later`,
    'of which only one may change its minor version',
  ].join(', ');
}

function partFaults(part: Part, to: PayloadVersions, from: PayloadVersions): Obstacle[] {
  const [next, present, name] = [to[part], from[part], NAMES[part]];
  const [a, b] = [numbersOf(next), numbersOf(present)];
  const older = olderFaults(part, next, present);
  if (older.length > 0 || a === undefined || b === undefined) return older;
  if (a[0] !== b[0]) {
    const fix = `Use ${name} ${b[0]}.${b[1]} or ${b[0]}.${b[1] + 1}.`;
    return [{ found: `${name} ${next} is of another major version than ${present}`, fix }];
  }
  if (a[1] > b[1] + 1) {
    const fix = `Take ${name} ${b[0]}.${b[1] + 1} first: one minor version at a time.`;
    const found = `${name} ${next} is ${a[1] - b[1]} minor versions newer than ${present}`;
    return [{ found, fix }];
  }
  const least = part === 'etcd' ? ETCD_BEFORE[`${a[0]}.${a[1]}`] : undefined;
  if (least === undefined || isOlder(present, least) !== true) return [];
  const fix = `Take etcd ${least} or a later ${b[0]}.${b[1]} first, with the same Kubernetes.`;
  return [{ found: `etcd ${next} must not follow ${present}`, fix }];
}

function olderFaults(part: Part, next: string, present: string): Obstacle[] {
  const name = NAMES[part];
  const unknown = [next, present].find((version) => numbersOf(version) === undefined);
  if (unknown !== undefined) {
    const fix = 'Use a payload whose versions are known.';
    return [{ found: `${name} ${unknown} cannot be compared`, fix }];
  }
  if (isOlder(next, present) !== true) return [];
  const fix = `Use ${name} ${present} or a later release.`;
  return [{ found: `${name} ${next} is older than ${present}`, fix }];
}

/** A Node and what its kubelet says of itself. */
export interface NodeVersion {
  readonly name: string;
  readonly kubelet: string;
}

/** Which kubelets of workers do not work with an API server of that version. */
export function skewFaults(kubernetes: string, workers: readonly NodeVersion[]): Obstacle[] {
  const api = numbersOf(kubernetes);
  if (api === undefined) return [];
  return workers.flatMap(({ name, kubelet }) => {
    const [major, minor] = numbersOf(kubelet) ?? [];
    const place = `the worker ${name} has the kubelet ${kubelet}`;
    const again = `Update ${name} first, to Kubernetes ${api[0]}.${api[1] - 1} ("sno-update run" on it), install it again with the payload of this host, or delete its Node.`;
    if (major === undefined || minor === undefined || major !== api[0]) {
      return [{ found: `${place}, which cannot be compared`, fix: again }];
    }
    if (minor > api[1]) {
      const fix = `Use Kubernetes ${major}.${minor}, or install ${name} again with an older payload.`;
      return [{ found: `${place}, which is newer than Kubernetes ${kubernetes}`, fix }];
    }
    if (api[1] - minor <= KUBELET_MINORS) return [];
    const found = `${place}, more than ${KUBELET_MINORS} minor versions older than Kubernetes ${kubernetes}`;
    return [{ found, fix: again }];
  });
}
