import { describeError } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../lib/change/change.ts';
import { updateChange } from '../../../lib/change/update/request.ts';
import { applyChanged, removeObjects } from '../../../lib/clients/kube/apply-changed.ts';
import { decodeManifests, type Manifest } from '../../../lib/clients/kube/manifest-decoding.ts';
import { done, notYet } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readLast, readTrial } from '../../../lib/engine/trial/store.ts';
import { renderAgain } from '../../../lib/render/kubernetes/again.ts';
import { readRenderInput } from '../../../lib/render/render-input.ts';
import type { RenderedManifest } from '../../../lib/render/renderer.ts';
import { awaitApi } from '../../steps/await-api.ts';
import type { UpdateContext } from './context.ts';
import { databaseGoesBack } from './database.ts';
import { readPrepared } from './prepare.ts';

/**
 * After the host went back, gives the add-ons the manifests from before: what workloads have written meanwhile stays, which
 * a restored database would lose. Where the database went back, the add-ons went with it.
 */
export const addOnsBack: StepBody<UpdateContext> = {
  name: 'add-ons-back',
  leaves: 'after a way back, the add-ons from before',
  touches: ['disk', 'api'],
  retries: true,
  input: ({ request }) => request.id,
  // It is recorded as done only when the trial has ended, one way or the other.
  holds: async () => true,
  async run(context, progress) {
    const { paths, request } = context;
    if ((await readTrial(paths))?.reverting !== undefined) {
      return notYet('the host restarts to go back');
    }
    const last = await readLast(paths);
    const isBack = last?.id === request.id && last.outcome !== 'confirmed';
    const changed = isBack ? ((await readPrepared(context))?.manifests ?? []) : [];
    if (changed.length === 0) return done('no add-on is to be put back');
    if (databaseGoesBack(request)) return done('the database goes back, and the add-ons with it');
    const input = await readRenderInput(paths);
    const before = objectsOf(
      (input === undefined ? [] : renderAgain(input).manifests).filter(({ name }) =>
        changed.some((each) => each.name === name),
      ),
    );
    const added = objectsOf(changed).filter((one) => !before.some((each) => isSame(each, one)));
    await awaitApi(context, progress);
    const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
    await context.withAdministrator(progress, async (client) => {
      await applyChanged(client, before, limits);
      await removeObjects(client, added.toReversed(), limits);
    });
    return done(`${before.length} objects put back, ${added.length} deleted`);
  },
  async instead({ paths }, failure) {
    await recordFailure(updateChange, paths, failureData(failure));
    return `not put back: ${describeError(failure)}`;
  },
};

const objectsOf = (manifests: readonly RenderedManifest[]): Manifest[] =>
  manifests.flatMap(({ name, contents }) => decodeManifests(name, contents).manifests);

const isSame = (a: Manifest, b: Manifest): boolean =>
  a.apiVersion.split('/').slice(0, -1).join() === b.apiVersion.split('/').slice(0, -1).join() &&
  a.kind === b.kind &&
  a.namespace === b.namespace &&
  a.name === b.name;
