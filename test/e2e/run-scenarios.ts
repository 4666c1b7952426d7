import { describeError } from '../../lib/errors/failure.ts';
import { failureSentence } from '../../lib/errors/failure-data.ts';
import { leftOnMachine, runLab } from './lab.ts';

/** Of each scenario. */
const DEADLINE_MINUTES = 20;

const print = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Runs scenarios of the lab one after another: those named on the command line, or all. The last
 * line printed is `N passed, N failed, N skipped`.
 *
 * @param known their names.
 */
export async function runScenarios(known: readonly string[]): Promise<void> {
  const wanted = process.argv.slice(2);
  const names = known.filter((name) => wanted.length === 0 || wanted.includes(name));
  let passed = 0;
  for (const name of names) if (await runOne(name)) passed += 1;
  const unknown = wanted.filter((name) => !known.includes(name));
  for (const name of unknown) print(`  FAIL  there is no ${name}; there are ${known.join(', ')}`);
  const failed = names.length - passed + unknown.length;
  print(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

async function runOne(name: string): Promise<boolean> {
  const began = performance.now();
  const failure = await failureOf(name);
  const took = `${Math.round((performance.now() - began) / 1000)} s`;
  print(
    failure === undefined ? `  ok    ${name} (${took})` : `  FAIL  ${name} (${took}): ${failure}`,
  );
  return failure === undefined;
}

async function failureOf(name: string): Promise<string | undefined> {
  try {
    const { exitCode, output, result } = await runLab(name, DEADLINE_MINUTES);
    if (exitCode !== 0) {
      const { failure } = result;
      const end = output.split('\n').slice(-5).join(' | ');
      return failure === undefined ? end : failureSentence(failure);
    }
    const left = await leftOnMachine();
    return left.length === 0 ? undefined : `left on the machine: ${left.join(', ')}`;
  } catch (error) {
    return describeError(error);
  }
}
