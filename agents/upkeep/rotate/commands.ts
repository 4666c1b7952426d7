import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, type Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureFromData, failureSentence } from '../../../lib/base/errors/failure-data.ts';
import {
  describeWhat,
  requestRotation,
  rotationChange,
  type What,
} from '../../../lib/change/rotation/request.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../../../lib/engine/steps/status.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { startUnit } from '../../../lib/host/systemd.ts';
import { type AuthorityName, authorityNames } from '../../../lib/render/kubernetes/authorities.ts';
import { planRotation } from './accept.ts';

const UNIT = 'sno-rotate.service';
const POLL_MS = 1000;
/** Longer than systemd takes to start a unit on a busy host. */
const START_MS = 60_000;

const KEYS = ['service-account', 'encryption'] as const;

/** Adds `rotate-ca` and `rotate-keys`. */
export function addRotations(
  program: Command,
  paths: HostPaths,
  write: (text: string) => void,
): void {
  program
    .command('rotate-ca')
    .description('replace CAs, while everything goes on working')
    .argument('<names...>', `any of ${authorityNames.join(', ')}; or all`)
    .option('--restart-workloads', 'delete pods that trust only a CA which cannot sign the new one')
    .option('--no-wait', 'do not wait for its end')
    .action(async (names: string[], options: { restartWorkloads?: true; wait: boolean }) => {
      const what: What = { kind: 'authorities', names: authoritiesOf(names) };
      await rotate(paths, what, { restartWorkloads: false, ...options }, write);
    });
  program
    .command('rotate-keys')
    .description('replace the key of service accounts or of the encryption')
    .addArgument(new Argument('<key>').choices(KEYS))
    .option('--no-wait', 'do not wait for its end')
    .action(async (key: (typeof KEYS)[number], { wait }: { wait: boolean }) => {
      await rotate(paths, { kind: key }, { restartWorkloads: false, wait }, write);
    });
}

/** In the order of the list, each once. @throws Failure (usage) naming every unknown one. */
function authoritiesOf(names: readonly string[]): AuthorityName[] {
  const unknown = names.filter((name) => name !== 'all' && !authorityNames.some((n) => n === name));
  if (unknown.length > 0) {
    throw new Failure('usage', `there is no CA ${unknown.join(', ')}`, {
      expected: `any of ${authorityNames.join(', ')}; or all`,
    });
  }
  return authorityNames.filter((name) => names.includes('all') || names.includes(name));
}

interface Options {
  readonly restartWorkloads: boolean;
  readonly wait: boolean;
}

async function rotate(
  paths: HostPaths,
  what: What,
  { restartWorkloads, wait }: Options,
  write: (text: string) => void,
): Promise<void> {
  const signal = AbortSignal.timeout(START_MS);
  const { isUnderWay, notes } = await planRotation(paths, { what, restartWorkloads }, signal);
  const began = new Date();
  if (isUnderWay) write(`The rotation of ${describeWhat(what)} is under way already.\n`);
  else await requestRotation(paths, { what, restartWorkloads });
  for (const note of notes) write(`${note}\n`);
  await startUnit(UNIT, signal);
  write('It also continues without this command. "sno-rotate status" prints its state.\n');
  if (wait) await follow(paths, began, isUnderWay, write);
}

/** Prints what the agent does until it ends. @throws Failure as the agent's own. */
async function follow(
  paths: HostPaths,
  began: Date,
  isUnderWay: boolean,
  write: (text: string) => void,
): Promise<void> {
  let printed = '';
  const startsBy = performance.now() + START_MS;
  for (;;) {
    const status = await readStatus(statusPath(paths, 'sno-rotate'));
    const isOfThisRun =
      status !== undefined &&
      (new Date(status.updated) >= began || (isUnderWay && status.state === 'running'));
    if (isOfThisRun) {
      if (await hasEnded(paths, status, write)) return;
      const line = describeStatus(status);
      if (line !== printed) write(`${line}\n`);
      printed = line;
    } else if (performance.now() > startsBy) {
      throw new Failure('retry', 'sno-rotate has not started', {
        fix: `See "journalctl -u sno-rotate".`,
      });
    }
    await sleep(POLL_MS);
  }
}

async function hasEnded(
  paths: HostPaths,
  { state, failure }: AgentStatus,
  write: (text: string) => void,
): Promise<boolean> {
  // systemd starts it again after a retryable one.
  const isFinal = failure !== undefined && failure.kind !== 'retry';
  if (isFinal && state === 'failed') throw failureFromData(failure);
  if (state === 'stopped') {
    write('It was stopped, and continues at the next start of the host.\n');
    return true;
  }
  // A process that ends before it has a plan, such as at an unreadable configuration.
  if (state !== 'done' || (await rotationChange.read(paths)) !== undefined) return false;
  const { restarted = [], what } = (await rotationChange.last(paths)) ?? {};
  const whatEnded = what === undefined ? 'everything' : describeWhat(what);
  write(`Rotated ${whatEnded}; restarted: ${restarted.join(', ') || 'nothing'}\n`);
  return true;
}

function describeStatus({ step, state, failure }: AgentStatus): string {
  if (state === 'failed' && failure !== undefined) {
    return `It starts again after a failure: ${failureSentence(failure)}`;
  }
  if (step === undefined) return 'Starting';
  const wait = step.waitingFor === undefined ? '' : `, waiting for ${step.waitingFor}`;
  return `Step ${step.number} of ${step.of}: ${step.name}${wait}`;
}
