import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ETCD_VERSION, KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { etcdBinaries } from '../../lab/servers/binaries.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import type { BenchContext, Benchmark, Row } from '../benchmark.ts';
import { expectGo } from '../go.ts';
import {
  approvalReaction,
  etcdReaction,
  fileReaction,
  kindReaction,
  nodeReaction,
} from './reactions.ts';
import { deliberateRow, type OurDelay, waitRows } from './rows.ts';

const REPETITIONS = 7;
/** The intervals at which our waits poll: readinessIntervalMs, intervalMs and tickMs of lib/. */
const polled = {
  api: { kind: 'polled', everySeconds: 0.5 },
  containers: { kind: 'polled', everySeconds: 1 },
  steadyState: { kind: 'polled', everySeconds: 1 },
} as const satisfies Record<string, OurDelay>;

export const waits: Benchmark = {
  name: 'waits',
  compares:
    'delay from an event to the end of the wait for it, compared with half the polling interval of the shell flow',
  deadlineMs: 45 * 60_000,
  async run(signal, context) {
    await expectGo();
    const rows = await measureWaits(signal, context);
    return { rows, versions: { etcd: ETCD_VERSION, kubernetes: KUBERNETES_VERSION } };
  },
};

async function measureWaits(signal: AbortSignal, { folder, report }: BenchContext): Promise<Row[]> {
  const repeated = async (what: string, once: (at: number) => Promise<number>) => {
    report(what);
    const seconds: number[] = [];
    for (let at = 0; at < REPETITIONS; at++) seconds.push(await once(at));
    return { kind: 'measured', seconds } as const;
  };
  const { etcd } = await etcdBinaries(signal);
  const file = await repeated('a file', (at) => fileReaction(folder, `file-${at}`, signal));
  const etcdDelay = await repeated('etcd', async (at) => {
    const own = join(folder, `etcd-${at}`);
    await mkdir(own);
    return etcdReaction(etcd, own);
  });
  const controlPlane = await startControlPlane(join(folder, 'servers'), signal);
  using client = await controlPlane.client();
  try {
    return [
      ...waitRows({
        'bootkube etcd': etcdDelay,
        'bootkube control-plane': polled.api,
        'bootkube manifests': await repeated('a kind', (at) =>
          kindReaction(controlPlane, client, `kind-${at}.example.com`, signal),
        ),
        'bootkube stop-etcd': polled.containers,
        'install-to-disk wait-for-bootkube': file,
        'post-reboot api': polled.api,
        'post-reboot serving-certificate': await repeated('a request', (at) =>
          approvalReaction(controlPlane, `requester-${at}.example.com`, signal),
        ),
        'post-reboot node-ready': await repeated('a node', (at) =>
          nodeReaction(client, `node-${at}.example.com`, signal),
        ),
        'post-reboot steady-state': polled.steadyState,
      }),
      deliberateRow(waitsOnPurposeSeconds),
    ];
  } finally {
    await controlPlane.stop();
  }
}

const { quietRevisionMs, apiStableMs, settlingWindowMs } = defaultSettings;
const waitsOnPurposeSeconds = (quietRevisionMs + apiStableMs + settlingWindowMs) / 1000;
