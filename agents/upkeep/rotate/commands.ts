import { Argument, type Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import {
  describeWhat,
  type RotationRecord,
  requestRotation,
  rotationChange,
  type What,
} from '../../../lib/change/rotation/request.ts';
import { startAndFollow } from '../../../lib/change/start-and-follow.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type AuthorityName, authorityNames } from '../../../lib/render/kubernetes/authorities.ts';
import { planRotation } from './accept.ts';

const PLAN_MS = 60_000;

const KEYS = ['service-account', 'encryption'] as const;

/** Adds `rotate-ca` and `rotate-keys`. */
export function addRotations(
  program: Command,
  paths: HostPaths,
  write: (text: string) => void,
): void {
  program
    .command('rotate-ca')
    .description('replace CAs, while everything keeps working')
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
  const signal = AbortSignal.timeout(PLAN_MS);
  const { isUnderWay, notes } = await planRotation(paths, { what, restartWorkloads }, signal);
  const present = isUnderWay ? await rotationChange.read(paths) : undefined;
  if (present !== undefined) write(`The rotation of ${describeWhat(what)} is under way already.\n`);
  const { id } =
    present ?? (await beginChange(paths, () => requestRotation(paths, { what, restartWorkloads })));
  for (const note of notes) write(`${note}\n`);
  const begun = {
    agent: 'sno-rotate',
    what: 'the rotation',
    isContinued: present !== undefined,
    isWaited: wait,
    isIts: (ended: RotationRecord) => ended.id === id,
  };
  const ended = await startAndFollow(rotationChange, paths, begun, write);
  if (ended === undefined) return;
  write(
    `Rotated ${describeWhat(ended.what)}; restarted: ${ended.restarted.join(', ') || 'nothing'}\n`,
  );
}
