import { identity } from '../../../lib/engine/agents/table.ts';
import type { Plan } from '../../../lib/engine/steps/step.ts';
import { within } from '../../../lib/engine/steps/within.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { checkIdentity } from './check-identity.ts';
import { placeEtcd } from './place-etcd.ts';
import { restoreDatabase } from './restore-database.ts';

/** Before the kubelet's first start: if the restore fails, an empty cluster must not start. */
export const restorePlan = (s: Settings): Plan<HostContext> => ({
  ...identity('sno-restore'),
  achieved: 'etcd is rebuilt',
  steps: [
    within(s, 'identityMs', checkIdentity),
    within(s, 'restoreMs', restoreDatabase),
    within(s, 'finishMs', placeEtcd),
  ],
});
