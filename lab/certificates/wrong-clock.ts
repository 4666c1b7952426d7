import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAttempts } from '../../agents/upkeep/renew/attempts.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { type InventoryItem, inventorySchema } from '../../lib/pki/inventory.ts';
import type { RunningCluster } from '../checks/check.ts';
import { onHost } from '../host/on-host.ts';
import { containers, restartedOf } from './containers.ts';
import { requireLogs } from './logs.ts';
import { readyThroughout } from './readiness.ts';
import { renew, requireRenewal, type Step } from './steps.ts';

/** Of Debian's package libfaketime, on the lab's machine. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const ON_HOST = '/var/lib/libfaketime.so.1';
const DROP_IN = 'etc/systemd/system/sno-renew.service.d/ahead.conf';

/** Every leaf has expired, the authorities have not. */
const DAYS_AHEAD = 4 * 365;
const AHEAD = {
  LD_PRELOAD: ON_HOST,
  FAKETIME: `+${DAYS_AHEAD}d`,
  // Time limits use the clock that nobody can set.
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DISABLE_SHM: '1',
};
const assignments = Object.entries(AHEAD).map(([name, value]) => `${name}=${value}`);

const LIST = ['/usr/local/bin/sno-certificates', 'list', '--json'];

async function list(
  { host }: RunningCluster,
  environment: readonly string[],
  signal: AbortSignal,
): Promise<InventoryItem[]> {
  const command = ['env', ...environment, ...LIST];
  return inventorySchema.parse(JSON.parse(await onHost(host, command, signal))).items;
}

/** Certificates in another state than this; keys have none. */
function requireState(items: readonly InventoryItem[], wanted: 'valid' | 'expired'): void {
  const others = items.filter(({ state }) => state !== undefined && state !== wanted);
  if (items.length > 0 && others.length === 0) return;
  throw new Failure('fatal', `not every certificate is ${wanted}`, {
    found: others.map(({ name, state }) => `${name}: ${state}`).join(', '),
  });
}

const leavesIn = (items: readonly InventoryItem[]) =>
  items.filter(({ kind }) => kind.startsWith('leaf'));

/** Runs sno-renew years ahead of everything else on the host, which goes on working. */
async function renewAhead(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  const { host } = cluster;
  const at = (path: string) => join(host.rootDir, path);
  const reload = () =>
    host.exec(['systemctl', 'daemon-reload'], { timeoutMs: 60_000 }, signal).then(() => undefined);
  const settings = at('etc/sno-agents/settings.json');
  await mkdir(join(at(DROP_IN), '..'), { recursive: true });
  await writeFile(at(DROP_IN), `[Service]\nEnvironment=${assignments.join(' ')}\n`);
  await writeFile(settings, JSON.stringify({ renewApiMs: 5_000 }));
  try {
    await reload();
    if ((await renew(cluster, signal)) === 0) {
      throw new Failure('fatal', 'sno-renew was not run with another clock', {});
    }
  } finally {
    await rm(settings);
    await rm(at(DROP_IN));
    await reload();
  }
  // The API server, whose clock is right, refuses a client's certificate from the future.
  const failed = (await readAttempts(hostPaths(host.rootDir))).filter(({ failure }) => failure);
  const names = failed.map(({ name }) => name).join(', ');
  if (names !== 'kubelet-serving') {
    throw new Failure('fatal', 'other certificates than expected were not renewed', {
      expected: 'kubelet-serving',
      found: JSON.stringify(failed),
    });
  }
}

/**
 * The clock of the agents is years ahead, then right again. What they sign in between works with
 * both: nothing restarts but the kubelet, and the API is always ready.
 */
export const survivesWrongClock: Step = async (cluster, report, signal) => {
  const { rootDir } = cluster.host;
  await copyFile(LIBRARY, join(rootDir, ON_HOST));
  const ahead = () => list(cluster, assignments, signal);
  const present = () => list(cluster, [], signal);
  requireState(leavesIn(await ahead()), 'expired');
  const before = await containers(cluster, signal);
  const asked = await readyThroughout(cluster, signal, async () => {
    await renewAhead(cluster, signal);
    requireState(await ahead(), 'valid');
    requireState(await present(), 'valid');
    await requireLogs(cluster, signal);
    report('renewed years ahead; valid then and now');
    await requireRenewal(cluster, signal);
  });
  requireState(await present(), 'valid');
  await requireLogs(cluster, signal);
  const clock = await readFile(join(rootDir, 'var/lib/sno-agents/sno-renew/attempts.json'), 'utf8');
  if (clock.includes('"failure"')) {
    throw new Failure('fatal', 'a failure of the wrong time is left', { found: clock });
  }
  const restarted = restartedOf(before, await containers(cluster, signal));
  if (restarted.length > 0) {
    throw new Failure('fatal', 'containers were restarted', { found: restarted.join(', ') });
  }
  await cluster.host.exec(['systemctl', 'reset-failed'], { timeoutMs: 60_000 }, signal);
  report(`with the right clock nothing was left to do; ready in ${asked} requests`);
};
