import { Failure } from '../../lib/base/errors/failure.ts';
import { issuedLeaves, type Leaf } from '../../lib/render/kubernetes/leaves.ts';
import { withSettings } from '../agent-settings.ts';
import type { RunningCluster } from '../checks/check.ts';
import type { Report } from '../installation.ts';
import { age, kubeletServing, leavesOf, serialOf } from './age.ts';
import { containers, restartedOf } from './containers.ts';
import { requireLogs } from './logs.ts';
import { readyThroughout } from './readiness.ts';

/** Of a year's certificate: in its last third, and in the kubelet's time for a new one. */
const DUE_DAYS = 330;
const EXPIRED_DAYS = 400;
const RENEW_MS = 5 * 60_000;

export type Step = (cluster: RunningCluster, report: Report, signal: AbortSignal) => Promise<void>;

/** Starts the unit as its timer does; returns its exit code. */
export async function renew({ host }: RunningCluster, signal: AbortSignal): Promise<number> {
  const start = ['systemctl', 'start', 'sno-renew.service'];
  return (await host.exec(start, { timeoutMs: RENEW_MS }, signal)).exitCode;
}

export async function requireRenewal(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  if ((await renew(cluster, signal)) !== 0) {
    throw new Failure('fatal', 'sno-renew failed', { fix: 'Read its journal.' });
  }
}

const serials = async ({ host }: RunningCluster, leaves: readonly Leaf[]) =>
  new Map(
    await Promise.all(
      leaves.map(
        async (leaf): Promise<[string, string]> => [leaf.name, await serialOf(host.rootDir, leaf)],
      ),
    ),
  );

export const renewsOldLeaves: Step = async (cluster, report, signal) => {
  const { rootDir } = cluster.host;
  // The kubelet renews its own certificates.
  const leaves = (await leavesOf(rootDir)).filter(({ name }) => name !== 'kubelet-client');
  for (const leaf of leaves) await age(rootDir, leaf, DUE_DAYS);
  const old = await serials(cluster, leaves);
  const before = await containers(cluster, signal);
  const asked = await readyThroughout(cluster, signal, () => requireRenewal(cluster, signal));
  const same = [...(await serials(cluster, leaves))].filter(([name, id]) => old.get(name) === id);
  if (same.length > 0) {
    throw new Failure('fatal', 'certificates were not renewed', {
      found: same.map(([name]) => name).join(', '),
    });
  }
  const restarted = restartedOf(before, await containers(cluster, signal));
  if (restarted.length > 0) {
    throw new Failure('fatal', 'containers were restarted', { found: restarted.join(', ') });
  }
  await requireLogs(cluster, signal);
  report(`${leaves.length} renewed, ready ${asked} times of ${asked}, no container restarted`);
};

/** Without a kubelet, nothing can show that it accepts the API server's new certificate. */
export const restoresUnproven: Step = async (cluster, report, signal) => {
  const { host } = cluster;
  const leaf = issuedLeaves.apiServerKubeletClient;
  const systemctl = (...args: string[]) =>
    host.exec(['systemctl', ...args], { timeoutMs: 60_000 }, signal);
  await age(host.rootDir, leaf, DUE_DAYS);
  const old = await serialOf(host.rootDir, leaf);
  await systemctl('stop', 'kubelet.service');
  try {
    const exitCode = await withSettings(
      () => host,
      { renewProofMs: 10_000 },
      () => renew(cluster, signal),
    );
    if (exitCode === 0) {
      throw new Failure('fatal', 'sno-renew succeeded without a proof', {});
    }
    const found = await serialOf(host.rootDir, leaf);
    if (found !== old) {
      throw new Failure('fatal', 'the working certificate did not come back', {
        expected: old,
        found,
      });
    }
  } finally {
    await systemctl('start', 'kubelet.service');
  }
  await requireRenewal(cluster, signal);
  if ((await serialOf(host.rootDir, leaf)) === old) {
    throw new Failure('fatal', 'the certificate was not renewed once it could be proven', {});
  }
  await systemctl('reset-failed');
  report('restored, the unit failed; renewed once the kubelet ran again');
};

/** A kubelet that has been running for months requests its next certificate. */
export const approvesServing: Step = async (cluster, report, signal) => {
  const { host } = cluster;
  await age(host.rootDir, kubeletServing, DUE_DAYS);
  const old = await serialOf(host.rootDir, kubeletServing);
  // It reads the file when it starts; a real one has the old one in memory.
  await host.exec(['systemctl', 'restart', 'kubelet.service'], { timeoutMs: 60_000 }, signal);
  await requireRenewal(cluster, signal);
  if ((await serialOf(host.rootDir, kubeletServing)) === old) {
    throw new Failure('fatal', 'the kubelet has no new serving certificate', {});
  }
  await requireLogs(cluster, signal);
  report('approved, and logs are served');
};

/** As after months in a warehouse: nothing on the disk is valid any more except the authorities. */
export const expireEverything: Step = async ({ host }, _report, signal) => {
  for (const leaf of await leavesOf(host.rootDir)) await age(host.rootDir, leaf, EXPIRED_DAYS);
  await age(host.rootDir, kubeletServing, EXPIRED_DAYS);
  await host.exec(['sync'], { timeoutMs: 60_000 }, signal);
};

/** After the boot; the unit is started as its timer does for a host that was off at its time. */
export const recovers: Step = async (cluster, report, signal) => {
  await requireRenewal(cluster, signal);
  await requireLogs(cluster, signal);
  report('the control plane runs, and logs are served');
};
