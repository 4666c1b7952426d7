import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../lib/base/errors/failure.ts';
import { API_TRUST_ANNOTATION, trustDigest } from '../lib/cluster/workers/api-trust.ts';
import { kubeletTrust } from '../lib/render/kubernetes/kubelet.ts';
import { rotate } from './certificates/rotation.ts';
import type { RunningCluster } from './checks/check.ts';
import { kubectl } from './checks/kubectl.ts';
import { podsReachEachOther } from './checks/pod-routes.ts';
import type { Host } from './host/host.ts';
import type { Report } from './installation.ts';
import { DOMAIN } from './site.ts';

const RUN_MS = 3 * 60_000;
const BETWEEN_MS = 5000;

/** The CA of the API server is replaced while the worker runs, which takes over both and then the new one alone. */
export async function workerFollowsCa(
  cluster: RunningCluster,
  worker: Host,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const before = await trustedBy(worker);
  await runNow(worker, signal);
  report('rotating the CA of the API server');
  const ended = new AbortController();
  // Its timer would do so within a quarter of an hour.
  const following = (async () => {
    while (!ended.signal.aborted) {
      await runNow(worker, signal);
      await sleep(BETWEEN_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  // Awaited below.
  following.catch(() => undefined);
  try {
    await rotate(cluster, ['rotate-ca', 'serving'], signal);
  } finally {
    ended.abort();
    await following;
  }
  await runNow(worker, signal);
  const after = await trustedBy(worker);
  const digest = trustDigest(after);
  const name = `${worker.identity.name}.${DOMAIN}`;
  const annotations = 'jsonpath={.metadata.annotations}';
  const found = await kubectl(cluster, ['get', 'node', name, '-o', annotations], signal);
  if (after === before || !found.includes(`"${API_TRUST_ANNOTATION}":"${digest}"`)) {
    throw new Failure('fatal', 'the worker does not follow the CA of the API server', {
      expected: `another one than before, confirmed as ${digest}`,
      found: after === before ? 'the same as before' : found,
    });
  }
  report('the kubelet reports, and pods reach each other');
  await kubectl(
    cluster,
    ['wait', `node/${name}`, '--for=condition=Ready', '--timeout=60s'],
    signal,
  );
  await kubectl(cluster, ['logs', 'deployment/on-worker'], signal);
  await podsReachEachOther(cluster, signal);
}

const trustedBy = ({ rootDir }: Host): Promise<string> =>
  readFile(join(rootDir, kubeletTrust.api), 'utf8');

/** As its timer does. */
async function runNow(worker: Host, signal: AbortSignal): Promise<void> {
  const start = ['systemctl', 'start', 'sno-worker-trust.service'];
  const { exitCode, stderr } = await worker.exec(start, { timeoutMs: RUN_MS }, signal);
  // While the API server restarts, it may fail; the next run goes on.
  if (exitCode === 0 || /failed with result|control process exited/i.test(stderr)) return;
  throw new Failure('fatal', 'sno-worker-trust cannot be started', { found: stderr.slice(-500) });
}
