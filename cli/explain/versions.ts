import { tableLines } from '../../lib/base/table.ts';
import { productVersion } from '../../lib/base/version.ts';
import {
  hostDemands,
  INSTALLED_MINORS,
  SUPPORTED_KUBERNETES,
} from '../../lib/payload/supported.ts';
import type { Surroundings } from '../surroundings.ts';

/** In one line. */
export function supportedText(): string {
  const etcd = new Set<string>(SUPPORTED_KUBERNETES.flatMap((row) => row.etcd));
  return `Kubernetes ${INSTALLED_MINORS.join(', ')}; etcd ${[...etcd].join(', ')}`;
}

/** Of this program, and what it installs. */
export const versionText = (): string => `${productVersion}\n${supportedText()}`;

/** What the words of the table mean. */
export const LEGEND = [
  'Patch versions make no difference. Newer minor versions need --accept-untested; older ones are refused.',
  'cgroup v1: with "on-request", the kubelet starts on it because sno-agents sets failCgroupV1: false.',
  'RuntimeConfig: a request of CRI that containerd answers since 2.0 and CRI-O since 1.28. Kubernetes 1.38 requires it.',
  'Go: what builds the programs.',
] as const;

/** The columns of the table for people, and its rows, newest first. */
export function supportedTable(): { head: string[]; rows: string[][] } {
  return {
    head: [
      'Kubernetes',
      'Use',
      'etcd',
      'Supported until',
      'cgroup v1',
      'RuntimeConfig',
      'Go',
      'Run with',
    ],
    rows: SUPPORTED_KUBERNETES.toReversed().map(
      ({ minor, use, etcd, supportedUntil, go, ranWith: { kubernetes, etcd: ran, runtimes } }) => {
        const { cgroupV1, runtimeConfig } = hostDemands(kubernetes);
        return [
          minor,
          use === 'install' ? 'install, update' : 'update from it',
          etcd.join(', '),
          supportedUntil,
          cgroupV1,
          runtimeConfig,
          `${go} or newer`,
          [`Kubernetes ${kubernetes}`, `etcd ${ran.join(', ')}`, ...runtimes].join('; '),
        ];
      },
    ),
  };
}

/** `sno explain versions`. */
export function explainVersions(
  { json = false }: { readonly json?: boolean },
  { print }: Pick<Surroundings, 'print'>,
): void {
  if (json) {
    const rows = SUPPORTED_KUBERNETES.map((row) => ({
      ...row,
      ...hostDemands(row.ranWith.kubernetes),
    }));
    print(JSON.stringify(rows, null, 2));
    return;
  }
  const { head, rows } = supportedTable();
  for (const line of tableLines([head.map((each) => each.toUpperCase()), ...rows])) print(line);
  print('');
  for (const line of LEGEND) print(line);
}
