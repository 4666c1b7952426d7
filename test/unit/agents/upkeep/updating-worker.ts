/** A worker with an update in a folder. */
import type { Test } from 'tap';
import { type UpdatedHost, workerContextOf } from '../../../../agents/upkeep/update/context.ts';
import type { ChangeStep } from '../../../../lib/change/or-back.ts';
import { workerPaths } from '../../../../lib/cluster/workers/paths.ts';
import { cluster } from '../host/cluster.ts';
import { writePayload } from '../host/payload.ts';
import { workerHost } from '../worker/worker-host.ts';
import { EXECUTABLE, PAYLOAD, PREPARED, program, requested, SOURCE } from './updating-host.ts';

export const NODE = '/api/v1/nodes/worker-0';
export const KUBELET_CONFIG = '/etc/kubernetes/kubelet.yaml';
/** Of the payload that tests write. */
const VERSION = 'v1.34.4';
export const versions = { kubernetes: VERSION, etcd: 'v3.6.8' };

/** As systemd tells it of every unit. */
export const running = (invocation = 'a', startedMs = 1) =>
  `[ "$1" = show ] || exit 0; printf 'ActiveState=active\\nInvocationID=${invocation}\\nExecMainStartTimestampMonotonic=${startedMs * 1000}\\n'`;

export const nodeOf = ({
  kubelet = VERSION,
  ready = 'True',
  heartbeat = new Date().toISOString(),
  unschedulable = false,
} = {}) => ({
  metadata: { name: 'worker-0' },
  spec: { unschedulable, podCIDRs: ['10.128.3.0/24'] },
  status: {
    conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }],
    nodeInfo: { kubeletVersion: kubelet },
  },
});

/** A worker that has joined, and whose update was accepted. */
export async function updatingWorker(t: Test, before = versions) {
  const { host, api } = await workerHost(t, { settings: { updateWindowMs: 50 } });
  host.write(workerPaths.apiAddress, 'API_SERVER=192.0.2.10:6443\n');
  host.programs.give('systemctl', running());
  host.write(EXECUTABLE, 'the old executable', 0o755);
  host.write(KUBELET_CONFIG, 'the old configuration');
  writePayload(host, PAYLOAD, 'the old kubelet');
  const files = [{ path: KUBELET_CONFIG, contents: 'the new configuration', mode: 0o644 }];
  const text = program({ ...PREPARED, files, enable: [], links: [] });
  host.write(`${SOURCE}/sno-agents`, text, 0o755);
  const payload = writePayload(host, `${SOURCE}/payload`, 'the new kubelet');
  const { installation: _, ...description } = cluster;
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  api.set(NODE, nodeOf());
  const request = await requested(host, { text, payload, versions, before });
  const context = workerContextOf(host.context, request);
  const run = (step: ChangeStep<UpdatedHost>, leftMs?: number) =>
    step.run(context, host.progress(AbortSignal.timeout(300_000), leftMs));
  return { host, api, context, run };
}
