import { Failure } from '../../../lib/base/errors/failure.ts';
import { isRecorded } from '../../../lib/change/rotation/request.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists } from '../../../lib/host/files.ts';
import { laptopAdminCa } from '../../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { removeKeptFile } from '../../../lib/secrets/seal/files.ts';
import {
  differing,
  hasUndo,
  loadStaged,
  type Phase,
  readStaged,
} from '../../steps/certificates/changes.ts';
import { prove, proveRefused, untilProven } from '../../steps/certificates/prove.ts';
import { publishTrust } from '../../steps/certificates/published-trust.ts';
import { applyPhase } from './apply.ts';
import type { RotateContext } from './context.ts';
import { restartedFor } from './restarts.ts';
import { acceptOwnToken, readSecrets, rewriteSecrets } from './stored-secrets.ts';

/**
 * Old and new are trusted, and the old ones are still in use. A client's certificate is tried before
 * it is used: its server may take a minute to read the file again.
 */
export const trustBoth: StepBody<RotateContext> = phaseStep('trust-both', {
  leaves: 'every program trusts the old and the new',
  neededUntil: 'restart-workloads',
  async verify(context, progress) {
    const { phases, retired } = await loadStaged(context.paths, context.request.id);
    const textOf = (path: string) =>
      phases['use-new'].find((change) => change.path === path)?.contents ?? '';
    for (const leaf of rotatableLeaves.filter(({ name }) => isIn(retired, name))) {
      const identity = { certificate: textOf(leaf.certificate), key: textOf(leaf.key) };
      await progress.wait(`the new certificate of ${leaf.name} to be accepted`, () =>
        prove(context, leaf, progress, identity),
      );
    }
  },
});

/** The new ones are in use, and the old ones still trusted. */
export const useNew: StepBody<RotateContext> = phaseStep('use-new', {
  leaves: 'leaves of the new CA, or the new key in use',
  neededUntil: 'overlap',
  async verify(context, progress) {
    const { what, id } = context.request;
    if (what.kind === 'encryption') await rewriteSecrets(context, progress);
    if (what.kind === 'service-account') {
      await retried(context, 'a new token to be accepted', acceptOwnToken, progress);
    }
    const changes = (await loadStaged(context.paths, id)).phases['use-new'];
    for (const leaf of rotatableLeaves) {
      const isChanged = changes.some(({ path }) => path === leaf.certificate);
      if (!isChanged || !(await exists(context.paths.at(leaf.certificate)))) continue;
      const seen = await progress.wait(`the new certificate of ${leaf.name} to work`, () =>
        prove(context, leaf, progress),
      );
      progress.say(`${leaf.name}: ${seen}`);
    }
  },
});

/** Nothing trusts the old ones any more. */
export const trustNew: StepBody<RotateContext> = phaseStep('trust-new', {
  leaves: 'nothing trusts the old one any more',
  neededUntil: 'conclude',
  async verify(context, progress) {
    const { what, id } = context.request;
    if (what.kind === 'encryption') await readSecrets(context, progress);
    if (what.kind === 'service-account') {
      await retried(context, 'a new token to be accepted', acceptOwnToken, progress);
    }
    const { retired } = await loadStaged(context.paths, id);
    for (const leaf of rotatableLeaves) {
      const old = retired.find(({ name }) => name === leaf.name);
      if (old === undefined) continue;
      await progress.wait(`the old certificate of ${leaf.name} to be refused`, () =>
        proveRefused(context, leaf, old, progress),
      );
    }
    if (what.kind === 'authorities') {
      await retried(context, 'the new CAs to be published', publishTrust, progress);
      // Last: what is deleted does not come back if the phase fails.
      if (what.names.includes('admin')) await removeKeptFile(context.paths, laptopAdminCa);
    }
  },
});

/** The API server may not answer for a moment: a phase is not undone for that. */
const retried = (
  context: RotateContext,
  what: string,
  attempt: (context: RotateContext, progress: Progress) => Promise<void>,
  progress: Progress,
) =>
  untilProven(
    context,
    () => attempt(context, progress),
    (cause) => new Failure('deadline', `waited in vain for ${what}`, { cause }),
    progress,
  );

interface PhaseParts {
  readonly leaves: string;
  readonly neededUntil: string;
  verify(context: RotateContext, progress: Progress): Promise<void>;
}

function phaseStep(
  phase: Phase,
  { leaves, neededUntil, verify }: PhaseParts,
): StepBody<RotateContext> {
  return {
    name: phase,
    leaves,
    touches: ['disk', 'etcd', 'api', 'runtime', 'systemd', 'clock'],
    neededUntil,
    input: ({ request }) => request.id,
    async holds({ paths, request }) {
      // Killed while it deleted what was staged: nothing is left to be compared.
      if (await isRecorded(paths, request)) return true;
      const staged = await readStaged(paths, request.id);
      if (staged === undefined || (await hasUndo(paths))) return false;
      return (await differing(paths, staged.phases[phase])).length === 0;
    },
    async run(context, progress) {
      const { paths, request } = context;
      await applyPhase(context, phase, (within) => verify(context, within), progress);
      const restarted = await restartedFor(paths, request.id, phase);
      return done(restarted.length === 0 ? 'no restart' : `restarted ${restarted.join(', ')}`);
    },
  };
}

const isIn = (all: readonly { readonly name: string }[], wanted: string) =>
  all.some(({ name }) => name === wanted);
