/**
 * `npm run test:faults [NAME...]`: every fault of lab/faults on real hosts, one after
 * another; some twenty minutes. The last line printed is `N passed, N failed, N skipped`.
 */
import { faults } from '../../lab/faults/index.ts';
import { describeError } from '../../lib/errors/failure.ts';
import { failureSentence } from '../../lib/errors/failure-data.ts';
import { leftOnMachine, runLab } from '../e2e/lab.ts';

const DEADLINE_MINUTES = 20;
const print = (line: string) => process.stdout.write(`${line}\n`);

async function runFault(name: string): Promise<boolean> {
  const began = Date.now();
  const failure = await tryFault(name);
  const took = `${Math.round((Date.now() - began) / 1000)} s`;
  print(
    failure === undefined ? `  ok    ${name} (${took})` : `  FAIL  ${name} (${took}): ${failure}`,
  );
  return failure === undefined;
}

async function tryFault(name: string): Promise<string | undefined> {
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

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const names = Object.keys(faults).filter((name) => wanted.length === 0 || wanted.includes(name));
  let passed = 0;
  for (const name of names) if (await runFault(name)) passed += 1;
  const unknown = wanted.filter((name) => faults[name] === undefined);
  for (const name of unknown) print(`  FAIL  there is no fault ${name}`);
  const failed = names.length - passed + unknown.length;
  print(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await main();
