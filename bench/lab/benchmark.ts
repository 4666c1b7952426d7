import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { missingPrerequisites } from '../../lab/components/debian-packages.ts';
import { outFolder, repository } from '../../lab/paths.ts';
import { run } from '../../lib/host/command.ts';
import { readJournal } from '../../lib/steps/journal.ts';
import { type Benchmark, NotRunHere } from '../benchmark.ts';
import { handoverRow, labResultSchema, shareRow } from './share.ts';

const SCENARIO = 'bootstrap-in-place';
/** Including the components that must be built first. */
const LAB_MS = 60 * 60_000;

export const lab: Benchmark = {
  name: 'lab',
  compares: "the agents' own work compared with the complete installation in the lab",
  deadlineMs: LAB_MS,
  async run(signal, { report }) {
    const missing = await missingPrerequisites();
    if (missing.length > 0) throw new NotRunHere(`the lab needs ${missing.join(', ')}`);
    report(`npm run lab -- --scenario ${SCENARIO}`);
    const limits = { signal, deadlineMs: LAB_MS };
    await run(process.execPath, [join(repository, 'lab/run.ts'), '--scenario', SCENARIO], limits);
    const out = outFolder(SCENARIO);
    const result = labResultSchema.parse(
      JSON.parse(await readFile(join(out, 'result.json'), 'utf8')),
    );
    const [bootkube, installToDisk] = await Promise.all(
      ['bootkube', 'install-to-disk'].map((agent) =>
        readJournal(join(out, 'agents/live', `${agent}.jsonl`)),
      ),
    );
    return {
      rows: [shareRow(result), handoverRow(bootkube ?? [], installToDisk ?? [])],
      versions: result.versions,
    };
  },
};
