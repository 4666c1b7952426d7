import { readFile } from 'node:fs/promises';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import { sealedPath } from '../../../lib/host/paths.ts';
import { reportPaths } from '../../../lib/relocation/relocatable/report.ts';
import type { ValidateContext } from './context.ts';

/** From the next boot on, the kubelet does not start until the site configuration has arrived. What is running keeps running. */
export const seal: StepBody<ValidateContext> = {
  name: 'seal',
  leaves: 'a node whose kubelet starts at its site only',
  touches: ['disk'],
  retries: true,
  input: ({ id }) => id,
  holds: async (context) =>
    (await readTextIfPresent(sealedPath(context.paths))) === (await sealText(context)),
  async run(context) {
    const text = await sealText(context);
    await beginChange(context.paths, () => writeFileAtomic(sealedPath(context.paths), text, 0o600));
    return done('switch the node off, and ship it');
  },
};

/** The report with which it was sealed. */
const sealText = async ({ paths }: ValidateContext): Promise<string> =>
  `${JSON.stringify({ schemaVersion: 1, report: sha256(await readFile(reportPaths(paths).json)) })}\n`;
