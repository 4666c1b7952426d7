import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { concludeRotation } from './conclude.ts';
import type { RotateContext } from './context.ts';
import { overlap } from './overlap.ts';
import { trustBoth, trustNew, useNew } from './phases.ts';
import { stageRotation } from './stage.ts';
import { workers } from './workers.ts';
import { restartWorkloads } from './workloads.ts';

/**
 * Replaces authorities or a key of a running control plane. Every step may be killed; the unit
 * continues it at the next boot. A phase whose result does not work is undone.
 */
export const rotatePlan = (s: Settings): Plan<RotateContext> => ({
  ...identity('sno-rotate'),
  achieved: 'the rotation is complete',
  steps: [
    within(s, 'rotateStageMs', stageRotation),
    // The keys that were staged are used from then on: it cannot be repeated.
    within(s, 'rotatePhaseMs', trustBoth),
    { ...workers, deadlineMs: s.rotateWorkersMs + s.finishMs },
    within(s, 'rotatePhaseMs', restartWorkloads),
    within(s, 'rotatePhaseMs', useNew),
    // It waits for the later one of the two.
    { ...overlap, deadlineMs: Math.max(s.rotateOverlapMs, s.rotateTokensMs) + s.finishMs },
    within(s, 'rotatePhaseMs', trustNew),
    within(s, 'finishMs', concludeRotation),
  ],
});
