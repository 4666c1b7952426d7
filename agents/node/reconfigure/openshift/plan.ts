import type { Settings } from '../../../../lib/host/settings.ts';
import type { Step } from '../../../../lib/steps/step.ts';
import { within } from '../../../../lib/steps/within.ts';
import type { ReconfigureContext } from '../context.ts';
import { orBack } from '../or-back.ts';
import { certificates } from './certificates.ts';
import { localNames } from './local-names.ts';
import { names } from './names.ts';
import { objects } from './objects.ts';
import { routes } from './routes.ts';
import { settle } from './settle.ts';

/**
 * What a site is to OpenShift's API, from a running control plane on: in place of `credentials`, `files`, `objects`,
 * `settle` and `names` of the Kubernetes payload. `reconfigure` refuses OpenShift until the host's own part exists: see "What
 * is missing" in docs/relocation-openshift.md.
 */
export const siteObjects = (s: Settings): readonly Step<ReconfigureContext>[] => [
  within(s, 'reconfigureFilesMs', orBack(localNames)),
  within(s, 'reconfigureFilesMs', orBack(certificates)),
  within(s, 'reconfigureFilesMs', orBack(objects)),
  within(s, 'reconfigureRoutesMs', orBack(routes)),
  within(s, 'reconfigureOperatorsMs', orBack(settle)),
  within(s, 'finishMs', orBack(names)),
];
