import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { until, within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { awaitNodeReady } from '../../steps/node-ready.ts';
import { rebuild } from '../../steps/restore/rebuild.ts';
import { replace } from '../../steps/restore/replace.ts';
import { servingCertificate } from '../../steps/serving-certificate.ts';
import { steadyState } from '../../steps/steady-state.ts';
import { authorities } from './authorities.ts';
import { checkIdentityChange } from './check.ts';
import { concludeIdentity } from './conclude.ts';
import type { IdentityContext } from './context.ts';
import { identityFiles } from './files.ts';
import { fromBackup } from './from-backup.ts';
import { hold } from './hold.ts';
import { identityObjects } from './objects.ts';
import { startRenamed } from './start.ts';

/**
 * Gives the host and its cluster another name, address or domain, or continues the cluster of a lost
 * host here: with the database of its backup and the keys of this host, signed by its own authorities or those of the lost
 * host. Every step may be killed; the unit continues it at the next boot.
 */
export const identityPlan = (s: Settings): Plan<IdentityContext> => ({
  ...identity('sno-identity'),
  achieved: 'the host has its new identity, and the control plane is in its steady state',
  steps: [
    // Nothing is changed before it ends; a network that goes down later takes nothing back.
    within(s, 'identityCheckMs', checkIdentityChange),
    within(s, 'restoreRebuildMs', fromBackup(rebuild, 'replace')),
    // The API is stopped: the next steps start it with the new files.
    within(s, 'identityHoldMs', hold),
    within(s, 'restoreReplaceMs', fromBackup(replace, 'files')),
    within(s, 'certificatesMs', authorities),
    within(s, 'identityFilesMs', identityFiles),
    within(s, 'identityObjectsMs', identityObjects),
    within(s, 'identityStartMs', startRenamed),
    within(s, 'servingCertificateMs', until('conclude', servingCertificate)),
    within(s, 'nodeReadyMs', until('conclude', awaitNodeReady)),
    within(s, 'restoreSettleMs', until('conclude', steadyState('sno-identity'))),
    within(s, 'finishMs', concludeIdentity),
  ],
});
