import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { PlainHost } from '../../steps/host-context.ts';
import { mountFolders } from './mount-folders.ts';
import { openKey } from './open-key.ts';
import { unsealFiles } from './unseal-files.ts';

/** At every boot of a sealed host, before anything reads or writes a key of its control plane. */
export const unsealPlan = (s: Settings): Plan<PlainHost> => ({
  ...identity('sno-unseal'),
  achieved: "the control plane's keys are in memory",
  steps: [
    within(s, 'unsealKeyMs', openKey),
    within(s, 'unsealFilesMs', unsealFiles),
    within(s, 'unsealFilesMs', mountFolders),
  ],
});
