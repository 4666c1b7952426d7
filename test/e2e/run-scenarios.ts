import type { MachineKind } from '../../lab/machine-kind.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { failureSentence } from '../../lib/base/errors/failure-data.ts';
import { runLab } from './lab.ts';

/** Of a scenario that installs one host. */
const DEADLINE_MINUTES = 20;

const print = (line: string) => process.stdout.write(`${line}\n`);

export interface ScenariosOptions {
  /** Names of those to run. Default: those on the command line; all if there are none. */
  readonly wanted?: readonly string[];
  /** Of each. Default: 20. */
  readonly deadlineMinutes?: number;
  /** Of the lab, for each. Default: none. */
  readonly options?: readonly string[];
  /** What the hosts are. Default: containers. */
  readonly machine?: MachineKind;
  /** Called after each, with the reason if it failed. */
  readonly onEnd?: (name: string, seconds: number, failure: string | undefined) => Promise<void>;
  /** Printed before the last line. */
  readonly summary?: () => string;
}

/**
 * Runs scenarios of the lab one after another. The last line printed is `N passed, N failed, N skipped`.
 *
 * @param known their names.
 */
export async function runScenarios(
  known: readonly string[],
  {
    wanted = process.argv.slice(2),
    deadlineMinutes = DEADLINE_MINUTES,
    options = [],
    machine = 'container',
    onEnd,
    summary,
  }: ScenariosOptions = {},
): Promise<void> {
  const names = known.filter((name) => wanted.length === 0 || wanted.includes(name));
  let passed = 0;
  const lab = (name: string) => failureOf(name, deadlineMinutes, options, machine);
  for (const name of names) if (await runOne(name, lab, onEnd)) passed += 1;
  const unknown = wanted.filter((name) => !known.includes(name));
  for (const name of unknown) print(`  FAIL  there is no ${name}; there are ${known.join(', ')}`);
  if (summary !== undefined) process.stdout.write(summary());
  const failed = names.length - passed + unknown.length;
  print(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function runOne(
  name: string,
  lab: (name: string) => Promise<string | undefined>,
  onEnd: ScenariosOptions['onEnd'],
): Promise<boolean> {
  const began = performance.now();
  const failure = await lab(name);
  const seconds = Math.round((performance.now() - began) / 1000);
  const took = `${seconds} s`;
  await onEnd?.(name, seconds, failure);
  print(
    failure === undefined ? `  ok    ${name} (${took})` : `  FAIL  ${name} (${took}): ${failure}`,
  );
  return failure === undefined;
}

async function failureOf(
  name: string,
  deadlineMinutes: number,
  options: readonly string[],
  machine: MachineKind,
): Promise<string | undefined> {
  try {
    const { exitCode, output, result, left } = await runLab(
      name,
      deadlineMinutes,
      options,
      machine,
    );
    if (exitCode !== 0) {
      const { failure } = result;
      const end = output.split('\n').slice(-5).join(' | ');
      return failure === undefined ? end : failureSentence(failure);
    }
    return left.length === 0 ? undefined : `left on the machine: ${left.join(', ')}`;
  } catch (error) {
    return describeError(error);
  }
}
