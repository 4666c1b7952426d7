import { appliesIn, compareMinors, type Minor, minorOf, type Validity } from '../base/minor.ts';
import type { PayloadDescription } from './payload.ts';

/** A minor version of Kubernetes, and how far this release takes it. */
export interface SupportedKubernetes {
  readonly minor: Minor;
  /** `leave`: hosts that have it go on with it and are updated from it; it is no longer installed. */
  readonly use: 'install' | 'leave';
  /** The minor versions of etcd that it was run with, oldest first. */
  readonly etcd: readonly [Minor, ...Minor[]];
  /** Last day of upstream's support, YYYY-MM-DD (kubernetes.io/releases). */
  readonly supportedUntil: string;
  /** The oldest Go that builds it (go.mod of k8s.io/kubernetes). */
  readonly go: Minor;
  /** The versions that were run together. */
  readonly ranWith: {
    readonly kubernetes: string;
    readonly etcd: readonly string[];
    readonly runtimes: readonly string[];
  };
}

/** Every minor version of Kubernetes that hosts of this release may have, oldest first. */
export const SUPPORTED_KUBERNETES = [
  {
    minor: '1.34',
    use: 'leave',
    etcd: ['3.6'],
    supportedUntil: '2026-10-27',
    go: '1.24',
    ranWith: { kubernetes: '1.34.4', etcd: ['3.6.8'], runtimes: ['containerd 1.6', 'CRI-O 1.34'] },
  },
  {
    minor: '1.35',
    use: 'install',
    etcd: ['3.6'],
    supportedUntil: '2027-02-28',
    go: '1.25',
    ranWith: { kubernetes: '1.35.4', etcd: ['3.6.16'], runtimes: ['containerd 2.4'] },
  },
  {
    minor: '1.36',
    use: 'install',
    etcd: ['3.6'],
    supportedUntil: '2027-06-28',
    go: '1.26',
    ranWith: { kubernetes: '1.36.3', etcd: ['3.6.16'], runtimes: ['containerd 2.4'] },
  },
  {
    minor: '1.37',
    use: 'install',
    etcd: ['3.6', '3.7'],
    supportedUntil: '2027-10-28',
    go: '1.26',
    ranWith: {
      kubernetes: '1.37.2',
      etcd: ['3.6.16', '3.7.3'],
      runtimes: ['containerd 2.4'],
    },
  },
] as const satisfies readonly SupportedKubernetes[];

const rows: readonly SupportedKubernetes[] = SUPPORTED_KUBERNETES;

/** The row of a version such as v1.37.2; undefined: another minor version. */
export const supportedKubernetes = (version: string): SupportedKubernetes | undefined =>
  rows.find(({ minor }) => minor === minorOf(version));

/** The minor versions that are installed and updated to, oldest first. */
export const INSTALLED_MINORS: readonly Minor[] = rows
  .filter(({ use }) => use === 'install')
  .map(({ minor }) => minor);

/** In which a kubelet starts on cgroup v1 only with `failCgroupV1: false` (KEP-5573). */
const CGROUP_V1_ON_REQUEST = { since: '1.35' } as const satisfies Validity;

/**
 * In which a kubelet asks the runtime for its cgroup driver and takes no other answer (KEP-4033): RuntimeConfig of
 * CRI, which containerd has since 2.0 and CRI-O since 1.28.
 */
export const RUNTIME_CONFIG_REQUIRED = { since: '1.38' } as const satisfies Validity;

/** In which a kubelet verifies who has pulled an image that is there (KEP-2535). */
const PULLS_VERIFIED = { since: '1.35' } as const satisfies Validity;

/** What a version of Kubernetes demands of its host. */
export interface HostDemands {
  /** `on-request`: the kubelet refuses it unless its configuration has `failCgroupV1: false`. */
  readonly cgroupV1: 'accepted' | 'on-request';
  /** Whether the kubelet takes the cgroup driver of its configuration from a runtime without RuntimeConfig. */
  readonly runtimeConfig: 'optional' | 'required';
  /** Whether a kubelet lets a pod use an image that is there only after it has verified its credentials, unless it is told otherwise. */
  readonly verifiesPulls: boolean;
}

/** Also of minor versions after the table's, as far as upstream has announced it. */
export function hostDemands(version: string): HostDemands {
  const minor = minorOf(version);
  const applies = (validity: Validity) => minor !== undefined && appliesIn(minor, validity);
  return {
    cgroupV1: applies(CGROUP_V1_ON_REQUEST) ? 'on-request' : 'accepted',
    runtimeConfig: applies(RUNTIME_CONFIG_REQUIRED) ? 'required' : 'optional',
    verifiesPulls: applies(PULLS_VERIFIED),
  };
}

/** `install`: on hosts that have no cluster yet; `run`: on hosts that have this minor version, or come from the one before. */
export type VersionUse = 'install' | 'run';

/** Why versions are not those of the table: one sentence each, with what to do. */
export interface VersionJudgement {
  /** Too old: nothing takes them. */
  readonly refused: readonly string[];
  /** Nobody has run them with this release: a person may. */
  readonly untested: readonly string[];
  /** Of what is taken. */
  readonly notices: readonly string[];
}

/** Compares the versions of a payload with the table. Patch numbers make no difference. */
export function judgeVersions(
  { kubernetes, etcd }: PayloadDescription['versions'],
  use: VersionUse,
): VersionJudgement {
  const oldest = rows[0]?.minor ?? '0.0';
  const minor = minorOf(kubernetes);
  if (minor === undefined || compareMinors(minor, oldest) < 0) {
    const reason = `Kubernetes ${kubernetes} is older than ${oldest}, the oldest that this release runs`;
    return { refused: [`${reason}: use ${textOf(INSTALLED_MINORS)}`], untested: [], notices: [] };
  }
  const row = supportedKubernetes(kubernetes);
  const wrongEtcd = etcdFaults(minor, (row ?? rows.at(-1))?.etcd ?? [], etcd);
  const leaving = row?.use === 'leave' ? [leavingText(row)] : [];
  return {
    refused: wrongEtcd.refused,
    untested: [
      ...(row === undefined ? [unknownText(minor)] : []),
      ...(use === 'install' ? leaving : []),
      ...wrongEtcd.untested,
    ],
    notices: use === 'install' ? [] : leaving,
  };
}

const unknownText = (minor: Minor): string =>
  `this release has not been run with Kubernetes ${minor}: use ${textOf(INSTALLED_MINORS)}, or a later release`;

const leavingText = ({ minor, supportedUntil }: SupportedKubernetes): string =>
  `Kubernetes ${minor}, which upstream supports until ${supportedUntil}, is no longer installed; hosts that have it keep working and can be updated: use ${textOf(INSTALLED_MINORS)}`;

function etcdFaults(
  kubernetes: Minor,
  known: readonly Minor[],
  version: string,
): Pick<VersionJudgement, 'refused' | 'untested'> {
  const minor = minorOf(version);
  if (minor !== undefined && known.includes(minor)) return { refused: [], untested: [] };
  const fault = `Kubernetes ${kubernetes} has not been run with etcd ${minor ?? version}: use etcd ${textOf(known)}`;
  const isOlder = minor === undefined || known.every((each) => compareMinors(minor, each) < 0);
  return isOlder ? { refused: [fault], untested: [] } : { refused: [], untested: [fault] };
}

/** `1.35, 1.36 or 1.37`. */
function textOf(minors: readonly Minor[]): string {
  const [last, ...before] = minors.toReversed();
  return [before.toReversed().join(', '), last].filter(Boolean).join(' or ');
}
