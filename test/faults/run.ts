/**
 * `npm run test:faults [-- [--resume] NAME...]`: every fault of lab/faults on real hosts. `lab/out/faults.json` has the
 * table, after each scenario; `--resume` leaves out each fault that has passed in it.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { faults } from '../../lab/faults/index.ts';
import { readFaults } from '../../lab/faults/result.ts';
import { outFolder } from '../../lab/paths.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { runScenarios } from '../e2e/run-scenarios.ts';
import { faultTable, hasPassed, parseTable, rowsOf, type ScenarioFault, summary } from './table.ts';

/** Of a scenario: the longest has thirty faults, each of which has a deadline of its own. */
const DEADLINE_MINUTES = 75;

const path = outFolder('faults.json');
const { values, positionals } = parseArgs({
  options: { resume: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const names = Object.keys(faults);
const chosen = positionals.length === 0 ? names : positionals;
const isPartial = values.resume || positionals.length > 0;
let table: ScenarioFault[] = isPartial
  ? parseTable(await readFile(path, 'utf8').catch(() => ''))
  : [];
const wanted = chosen.filter((name) => !(values.resume && hasPassed(name, table)));
for (const name of chosen) {
  if (!wanted.includes(name)) process.stdout.write(`  ok    ${name} (passed before)\n`);
}
if (wanted.length === 0) process.stdout.write(summary(table));
else {
  await runScenarios(names, {
    wanted,
    deadlineMinutes: DEADLINE_MINUTES,
    options: values.resume ? ['--resume'] : [],
    onEnd: async (name, seconds, failure) => {
      const found = await readFaults(outFolder(name));
      table = faultTable(names, table, rowsOf(name, seconds, failure, found));
      await writeFileAtomic(path, `${JSON.stringify(table, null, 2)}\n`, 0o644);
    },
    summary: () => summary(table),
  });
}
