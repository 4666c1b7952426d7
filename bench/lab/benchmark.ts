import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import type { Benchmark } from '../benchmark.ts';
import { expectLab, LAB_MS, runLab } from '../lab-run.ts';
import { handoverRow, labResultSchema, shareRow } from './share.ts';

export const lab: Benchmark = {
  name: 'lab',
  compares: "the agents' own work compared with the complete installation in the lab",
  deadlineMs: LAB_MS,
  async run(signal, context) {
    await expectLab();
    const out = await runLab('bootstrap-in-place', signal, context);
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
