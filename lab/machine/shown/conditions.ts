import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { AllInOne } from '../../all-in-one.ts';
import { requireLogs } from '../../certificates/logs.ts';
import { readiness, readinessUrl } from '../../certificates/readiness.ts';
import { allInOneChecks } from '../../checks/index.ts';
import { nodeReady } from '../../checks/node-ready.ts';
import { eventually } from '../../eventually.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { asMachine } from '../machine-host.ts';
import { withLateAdministrator } from './late-administrator.ts';
import { pressAndTurnOn } from './power-button.ts';
import { shown, shownChecks } from './row.ts';
import { requireEnforced } from './selinux.ts';

const DAY_MS = 86_400_000;
/** Every leaf has expired, the authorities have not. */
const AHEAD_DAYS = 400;
/** Before the authorities were made. */
const BEHIND_DAYS = -366;
const READY_MS = 6 * 60_000;
const FAILED_MS = 5 * 60_000;
const COMMAND_MS = 30_000;
/** Longer than the node's Lease lasts (40 s), by the clock of the machine. */
const WITHOUT_CARRIER_MS = 60_000;
/** What the preflight demands (`minMemoryMiB`), and what a kernel keeps of a machine's memory for itself. */
const LEAST_MEMORY_MIB = 2048 + 160;

/** As qemu takes it. */
const clockAt = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 19);

/** The cluster is at work again: its node is ready, and the kubelet has a certificate that the API server takes. */
async function atWork(run: AllInOne, cluster = run.cluster): Promise<void> {
  const { signal } = run.context;
  await eventually(() => nodeReady.run(cluster, signal), READY_MS, signal);
  await requireLogs(cluster, signal, ['--namespace=kube-system', 'deployment/coredns']);
}

async function restartWithClock(run: AllInOne, label: string, days: number): Promise<void> {
  await run.booted.stop();
  const { clock: _, ...hardware } = run.hardware;
  run.hardware = days === 0 ? hardware : { ...hardware, clock: clockAt(days) };
  await run.bootInstalled(label);
}

async function restartAtWork(run: AllInOne, label: string): Promise<void> {
  await restartWithClock(run, label, 0);
  await atWork(run);
}

/** The host has signed its own again. The administrator's has expired as well, and is issued again. */
async function clockAhead(run: AllInOne): Promise<void> {
  const { signal } = run.context;
  await restartWithClock(run, 'ahead', AHEAD_DAYS);
  const { context, cluster } = run;
  const late = () => withLateAdministrator(cluster, context.folder, signal);
  await atWork(run, await eventually(late, READY_MS, signal));
}

/** Nothing is signed with it; once it is set, nothing else needs to be done. */
async function clockBehind(run: AllInOne): Promise<void> {
  const { signal } = run.context;
  await restartWithClock(run, 'behind', BEHIND_DAYS);
  const inside = (...argv: string[]) => run.booted.exec(argv, { timeoutMs: COMMAND_MS }, signal);
  const refused = async () => {
    await inside('systemctl', 'start', 'sno-renew.service');
    const { stdout } = await inside('journalctl', '-b', '-u', 'sno-renew', '-o', 'cat');
    if (stdout.includes('is not valid yet')) return;
    throw new Failure('fatal', 'sno-renew says nothing of the clock', {
      expected: 'is not valid yet',
      found: stdout.slice(-500),
    });
  };
  await eventually(refused, FAILED_MS, signal);
  await inside('date', '--utc', '--set', new Date().toISOString());
  await atWork(run);
}

async function powerButton(run: AllInOne): Promise<void> {
  await pressAndTurnOn(run, 'after-button');
  await atWork(run);
}

/** Nobody outside gets an answer meanwhile, the host goes on, and afterwards is as it was. */
async function carrierLost(run: AllInOne): Promise<void> {
  const { signal } = run.context;
  const { devices } = asMachine(run.booted);
  await devices.setCarrier(false);
  try {
    await sleep(WITHOUT_CARRIER_MS, undefined, { signal });
    const answer = await readiness(readinessUrl(run.booted));
    if (answer === '200') {
      throw new Failure('fatal', 'the API answers over a cable that is not plugged in', {});
    }
  } finally {
    await devices.setCarrier(true);
  }
  await atWork(run);
}

const PLAN = 'all-in-one';

const troubles: TroublesOf<AllInOne> = (run) => [
  ...shownChecks(allInOneChecks, (check) => run().runChecks([check], () => undefined, {}), PLAN),
  shown('carrier lost and back', () => carrierLost(run()), PLAN),
  shown('power button', () => powerButton(run()), PLAN),
  shown('clock 400 days ahead', () => clockAhead(run()), PLAN),
  shown('clock right again', () => restartAtWork(run(), 'right-again'), PLAN),
  shown('clock a year behind, then set', () => clockBehind(run()), PLAN),
  shown('SELinux enforces', () => requireEnforced(run()), PLAN),
];

export const conditionRows = demandedOf(troubles);

/** An all-in-one host on a machine with as little memory as the preflight takes, and what happens to machines over the years. */
export const machineConditions: Scenario = (context) => {
  const run = new AllInOne(context);
  run.hardware = { memoryMiB: LEAST_MEMORY_MIB };
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    ...meetAll(
      troubles(() => run),
      context,
    ),
  ]);
};
