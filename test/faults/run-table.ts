import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type DemandedRows, readFaults } from '../../lab/faults/result.ts';
import type { MachineKind } from '../../lab/machine-kind.ts';
import { outFolder } from '../../lab/paths.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { runScenarios } from '../e2e/run-scenarios.ts';
import { faultTable, hasPassed, parseTable, rowsOf, type ScenarioFault, summary } from './table.ts';

/** Of a scenario. */
interface TableOptions {
  readonly file: string;
  readonly deadlineMinutes: number;
  /** A scenario that has passed has them all. */
  readonly demanded: DemandedRows;
  /** What the hosts are. Default: containers. */
  readonly machine?: MachineKind;
}

/**
 * Runs scenarios that write rows of faults: those on the command line, all without one. `lab/out/<file>` has the
 * table, after each scenario; `--resume` leaves out what has passed in it. Returns whether all have passed.
 */
export async function runFaultTable(
  names: readonly string[],
  { file, deadlineMinutes, demanded, machine = 'container' }: TableOptions,
): Promise<boolean> {
  const path = outFolder(file);
  const { values, positionals } = parseArgs({
    options: { resume: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const chosen = positionals.length === 0 ? names : positionals;
  const isPartial = values.resume || positionals.length > 0;
  let table: ScenarioFault[] = isPartial
    ? parseTable(await readFile(path, 'utf8').catch(() => ''))
    : [];
  const wanted = chosen.filter((name) => !(values.resume && hasPassed(name, table, demanded)));
  for (const name of chosen) {
    if (!wanted.includes(name)) process.stdout.write(`  ok    ${name} (passed before)\n`);
  }
  if (wanted.length === 0) process.stdout.write(summary(table, file));
  else {
    await runScenarios(names, {
      wanted,
      deadlineMinutes,
      machine,
      options: values.resume ? ['--resume'] : [],
      onEnd: async (name, seconds, failure) => {
        const found = await readFaults(outFolder(name, machine));
        table = faultTable(names, table, rowsOf(name, seconds, failure, found));
        await writeFileAtomic(path, `${JSON.stringify(table, null, 2)}\n`, 0o644);
      },
      summary: () => summary(table, file),
    });
  }
  return names.every((name) => hasPassed(name, table, demanded));
}
