import { inPlacePlan } from '../../../agents/in-place/plan.ts';
import { openShiftRestorePlan } from '../../../agents/post-reboot/openshift/restore/plan.ts';
import { restorePlan } from '../../../agents/post-reboot/restore/plan.ts';
import { reconfigurePlan } from '../../../agents/reconfigure/plan.ts';
import { followAddressPlan } from '../../../agents/upkeep/address/plan.ts';
import { backupPlan } from '../../../agents/upkeep/backup/plan.ts';
import { backupRestorePlan } from '../../../agents/upkeep/backup/restore/plan.ts';
import { backupPushPlan } from '../../../agents/upkeep/backup-push/plan.ts';
import { certificatesPlan } from '../../../agents/upkeep/certificates/plan.ts';
import { identityPlan } from '../../../agents/upkeep/identity/plan.ts';
import { payloadPlan } from '../../../agents/upkeep/payload/plan.ts';
import { renewPlan } from '../../../agents/upkeep/renew/plan.ts';
import { reportPlan } from '../../../agents/upkeep/report/plan.ts';
import { trialPlan } from '../../../agents/upkeep/trial/plan.ts';
import { unsealPlan } from '../../../agents/upkeep/unseal/plan.ts';
import { updatePlan } from '../../../agents/upkeep/update/plan.ts';
import { workerTrustPlan } from '../../../agents/worker/trust/plan.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import {
  ADDRESS,
  BACKUP_PUSH,
  IN_PLACE,
  INSTALLING,
  RECONFIGURE,
  REPORT,
  type Requirement,
  TRIAL,
  UNSEAL,
  UPDATE,
  WAITING,
  WORKER_TRUST,
} from './requirement.ts';

/** For its start and its end. */
export const MARGIN_MS = 120_000;
/** A restart of the host that does not begin is requested again for so long. */
const RESTART_MS = 150_000;

/** Before the plan, a medium is waited for, read and verified. */
export const ARRIVE_MS = 330_000;

const deadlines = ({ steps }: { readonly steps: readonly { readonly deadlineMs: number }[] }) =>
  steps.reduce((sum, { deadlineMs }) => sum + deadlineMs, 0);

const s = defaultSettings;

const longest: Readonly<Record<string, number>> = {
  'installed/sno-backup': deadlines(backupPlan(s)) + MARGIN_MS,
  [BACKUP_PUSH]: deadlines(backupPushPlan(s)) + MARGIN_MS,
  'installed/sno-backup-restore': deadlines(backupRestorePlan(s)) + MARGIN_MS,
  'installed/sno-certificates': deadlines(certificatesPlan(s)) + MARGIN_MS,
  'installed/sno-identity': deadlines(identityPlan(s)) + MARGIN_MS,
  'installed/sno-payload': deadlines(payloadPlan(s)) + MARGIN_MS,
  'installed/sno-renew': deadlines(renewPlan(s)) + MARGIN_MS,
  'installed/sno-restore':
    Math.max(deadlines(restorePlan(s)), deadlines(openShiftRestorePlan(s))) + MARGIN_MS,
  [UNSEAL]: deadlines(unsealPlan(s)) + MARGIN_MS,
  [IN_PLACE]: deadlines(inPlacePlan(s)) + MARGIN_MS,
  [UPDATE]: deadlines(updatePlan(s)) + MARGIN_MS,
  [ADDRESS]: deadlines(followAddressPlan(s)) + MARGIN_MS,
  [RECONFIGURE]: deadlines(reconfigurePlan(s)) + ARRIVE_MS + MARGIN_MS,
  [REPORT]: deadlines(reportPlan(s)) + MARGIN_MS,
  [WORKER_TRUST]: deadlines(workerTrustPlan(s)) + MARGIN_MS,
  [TRIAL]: deadlines(trialPlan(s)) + RESTART_MS,
};

export const timeoutRequirements: readonly Requirement[] = [
  {
    why: 'anybody may write what they read of the API: a limit of their own ends before the workload suffers',
    units: [...WAITING, 'live/approve-csr', 'installed/sno-renew'],
    says: { MemoryMax: '384M' },
  },
  {
    why: 'it is ready when its plan starts; a hanging start is ended',
    units: [...INSTALLING, ...WAITING, 'installed/sno-rotate'],
    says: { TimeoutStartSec: '120' },
  },
  // These are starting as long as their plan runs.
  ...Object.entries(longest).map(([unit, ms]) => ({
    why: 'a daemon-reload takes back what the steps have extended, and a oneshot has no limit by default',
    units: [unit],
    says: { TimeoutStartSec: `${ms / 1000}` },
  })),
];
