import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Written by the runtime to NODE_V8_COVERAGE; offsets refer to the source text. */
const reportSchema = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({
          ranges: z.array(
            z.object({ startOffset: z.number(), endOffset: z.number(), count: z.number() }),
          ),
        }),
      ),
    }),
  ),
});
type Ranges = z.infer<typeof reportSchema>['result'][number]['functions'];

/** Tells whether the code at an offset was executed. */
export type Covered = (offset: number) => boolean;

/** Reads and removes the reports written to `folder` by the processes of one test file: executed code in `root`, by file. */
export async function readCoverage(folder: string, root: string): Promise<Map<string, Covered[]>> {
  const covered = new Map<string, Covered[]>();
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    for (const { url, functions } of parseReport(text)) {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!path.startsWith(`${root}/`)) continue;
      const file = path.slice(root.length + 1);
      covered.set(file, [...(covered.get(file) ?? []), coveredBy(functions)]);
    }
  }
  await rm(folder, { recursive: true });
  return covered;
}

/** A killed process leaves an incomplete report. */
function parseReport(text: string): z.infer<typeof reportSchema>['result'] {
  try {
    return reportSchema.parse(JSON.parse(text)).result;
  } catch {
    return [];
  }
}

/** Ranges are nested: the shortest one around an offset says how often it was executed. */
function coveredBy(functions: Ranges): Covered {
  const ranges = functions.flatMap(({ ranges }) => ranges);
  return (offset) => {
    const around = ranges.filter((it) => it.startOffset <= offset && offset < it.endOffset);
    const lengths = around.map(({ startOffset, endOffset }) => endOffset - startOffset);
    const shortest = Math.min(...lengths);
    return around.some(({ count }, index) => lengths[index] === shortest && count > 0);
  };
}
