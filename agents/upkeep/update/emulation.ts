import { describeError } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../lib/change/change.ts';
import type { Prepared } from '../../../lib/change/update/prepared.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readLast } from '../../../lib/engine/trial/store.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import type { UpdateContext } from './context.ts';
import { readPrepared } from './prepare.ts';
import { waitUntilSettled } from './settle.ts';

type Emulation = NonNullable<Prepared['emulation']>;

/**
 * Once the update is confirmed, the control plane starts anew without the flag that made it behave as the earlier minor
 * version. A restart continues it. If it does not come up so, the flag is put back: the host keeps the update, and the same
 * update run again tries once more.
 */
export const endEmulation: StepBody<UpdateContext> = {
  name: 'end-emulation',
  leaves: 'a control plane that is of its own minor version in everything',
  touches: ['disk', 'api', 'runtime', 'clock'],
  retries: true,
  input: ({ request }) => request.id,
  async holds(context) {
    const due = await emulationToEnd(context);
    return due === undefined || (await arePlaced(context, due.after));
  },
  async run(context, progress) {
    const due = await emulationToEnd(context);
    if (due === undefined) return done('nothing is emulated');
    // The API server first: its clients may be older than it, and never newer.
    await place(context, due.after);
    await waitUntilSettled(context, progress);
    return done(`Kubernetes ${due.version} is no longer emulated`);
  },
  async instead(context, failure) {
    const due = await emulationToEnd(context);
    if (due !== undefined) await place(context, due.during);
    await recordFailure(updateChange, context.paths, failureData(failure));
    return `the control plane runs as before: ${describeError(failure)}`;
  },
};

/** Undefined unless the update stays, emulates an earlier version, and has not failed to end that. */
async function emulationToEnd({ paths, request }: UpdateContext): Promise<Emulation | undefined> {
  const last = await readLast(paths);
  if (last?.id !== request.id || last.outcome !== 'confirmed') return undefined;
  if ((await updateChange.read(paths))?.failure !== undefined) return undefined;
  return (await readPrepared({ paths }))?.emulation;
}

async function place({ paths }: UpdateContext, files: Emulation['after']): Promise<void> {
  for (const { path, contents, mode } of files) {
    if ((await readTextIfPresent(paths.at(path))) === contents) continue;
    await writeFileAtomic(paths.at(path), contents, mode);
  }
}

async function arePlaced({ paths }: UpdateContext, files: Emulation['after']): Promise<boolean> {
  for (const { path, contents } of files) {
    if ((await readTextIfPresent(paths.at(path))) !== contents) return false;
  }
  return true;
}
