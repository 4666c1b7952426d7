import type { Settings } from '../../../../lib/host/settings.ts';
import type { Step } from '../../../../lib/steps/step.ts';
import { within } from '../../../../lib/steps/within.ts';
import type { ReconfigureContext } from '../context.ts';
import { orBack } from '../or-back.ts';
import { certificates } from './certificates.ts';
import { localNames } from './local-names.ts';
import { objects } from './objects.ts';
import { routes } from './routes.ts';

/**
 * What a site is to OpenShift, in place of `credentials`, `files` and `objects` of the Kubernetes payload.
 * `reconfigure prepare` refuses OpenShift until the host's own part has run on such a host.
 */
export const siteObjects = (s: Settings): readonly Step<ReconfigureContext>[] => [
  within(s, 'reconfigureFilesMs', orBack(localNames)),
  within(s, 'reconfigureFilesMs', orBack(certificates)),
  within(s, 'reconfigureFilesMs', orBack(objects)),
  within(s, 'reconfigureRoutesMs', orBack(routes)),
];
