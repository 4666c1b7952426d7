import type { Cluster } from '../../../lib/config/cluster/cluster.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { NEVER_RUN } from '../openshift/never-run.ts';
import type { ValidateContext } from './context.ts';
import { inspectForShipping } from './inspect.ts';
import { seal } from './seal.ts';

/** Whether a relocatable node can be shipped. A node that cannot is not sealed. `isSealed`: it was before. */
export const validatePlan = (
  s: Settings,
  { controlPlane }: Pick<Cluster, 'controlPlane'>,
  { seals, isSealed }: { readonly seals: boolean; readonly isSealed: boolean },
): Plan<ValidateContext> => ({
  agent: 'reconfigure-validate',
  unit: 'reconfigure-validate',
  purpose: 'judges whether a relocatable node can be shipped, and seals it',
  achieved: `${
    seals || isSealed
      ? 'PASS: the node is sealed, and can be shipped'
      : 'PASS: the node can be shipped, and is not sealed'
  }${controlPlane === 'openshift' ? `. ${NEVER_RUN}` : ''}`,
  steps: [
    within(
      s,
      controlPlane === 'openshift' ? 'validateOperatorsMs' : 'validateMs',
      inspectForShipping,
    ),
    ...(seals ? [within(s, 'finishMs', seal)] : []),
  ],
});
