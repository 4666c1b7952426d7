import { aiokubePlan } from '../agents/aiokube/plan.ts';
import { approveCsrPlan } from '../agents/approve-csr/plan.ts';
import { bootkubeInPlacePlan, bootkubePlan } from '../agents/bootkube/plan.ts';
import { deferredPlan } from '../agents/deferred/plan.ts';
import { continuePlan, forgetPlan, inPlacePlan } from '../agents/in-place/plan.ts';
import { installInPlacePlan } from '../agents/install-to-disk/in-place/plan.ts';
import { installToDiskPlan } from '../agents/install-to-disk/plan.ts';
import { postRebootOpenShiftPlan } from '../agents/post-reboot/openshift/plan.ts';
import { openShiftRestorePlan } from '../agents/post-reboot/openshift/restore/plan.ts';
import { postRebootPlan } from '../agents/post-reboot/plan.ts';
import { restorePlan } from '../agents/post-reboot/restore/plan.ts';
import { progressPlan } from '../agents/progress/plan.ts';
import { reconfigureOpenShiftPlan } from '../agents/reconfigure/openshift/plan.ts';
import { reconfigurePlan } from '../agents/reconfigure/plan.ts';
import {
  openShiftPreparePlan,
  openShiftUndoPlan,
} from '../agents/reconfigure/prepare/openshift/plan.ts';
import { preparePlan, undoPlan } from '../agents/reconfigure/prepare/plan.ts';
import { validatePlan } from '../agents/reconfigure/validate/plan.ts';
import { followAddressPlan } from '../agents/upkeep/address/plan.ts';
import { approvePlan } from '../agents/upkeep/approve/plan.ts';
import { backupPlan } from '../agents/upkeep/backup/plan.ts';
import { backupRestorePlan } from '../agents/upkeep/backup/restore/plan.ts';
import { backupPushPlan } from '../agents/upkeep/backup-push/plan.ts';
import { certificatesPlan } from '../agents/upkeep/certificates/plan.ts';
import { identityPlan } from '../agents/upkeep/identity/plan.ts';
import { payloadPlan } from '../agents/upkeep/payload/plan.ts';
import { renewPlan } from '../agents/upkeep/renew/plan.ts';
import { reportPlan } from '../agents/upkeep/report/plan.ts';
import { rotatePlan } from '../agents/upkeep/rotate/plan.ts';
import { trialPlan } from '../agents/upkeep/trial/plan.ts';
import { unsealPlan } from '../agents/upkeep/unseal/plan.ts';
import { updatePlan } from '../agents/upkeep/update/plan.ts';
import { workerUpdatePlan } from '../agents/upkeep/update/worker/plan.ts';
import { workerPlan } from '../agents/worker/plan.ts';
import { workerTrustPlan } from '../agents/worker/trust/plan.ts';
import type { Plan, Step } from '../lib/engine/steps/step.ts';
import { defaultSettings, type Settings } from '../lib/host/settings.ts';
import { row, table } from './markdown-table.ts';

type PlanOf = (settings: Settings) => Plan<never>;

const validateOn =
  (controlPlane: 'kubernetes' | 'openshift'): PlanOf =>
  (settings) =>
    validatePlan(settings, { controlPlane }, { seals: true, isSealed: false });

/** Heading, folder of its `plan.ts`, and plan: in the order in which a host meets them. */
export const PLANS: readonly (readonly [heading: string, folder: string, planOf: PlanOf])[] = [
  ['sno-in-place', 'agents/in-place', inPlacePlan],
  ['sno-in-place, to go on with the disk', 'agents/in-place', continuePlan],
  ['sno-in-place on the installed host', 'agents/in-place', forgetPlan],
  ['bootkube', 'agents/bootkube', bootkubePlan],
  ['bootkube in place', 'agents/bootkube', bootkubeInPlacePlan],
  ['install-to-disk', 'agents/install-to-disk', installToDiskPlan],
  ['install-to-disk in place', 'agents/install-to-disk/in-place', installInPlacePlan],
  ['approve-csr', 'agents/approve-csr', approveCsrPlan],
  ['progress', 'agents/progress', progressPlan],
  ['sno-unseal', 'agents/upkeep/unseal', unsealPlan],
  ['sno-payload', 'agents/upkeep/payload', payloadPlan],
  ['sno-restore', 'agents/post-reboot/restore', restorePlan],
  ['sno-restore on OpenShift', 'agents/post-reboot/openshift/restore', openShiftRestorePlan],
  ['sno-certificates', 'agents/upkeep/certificates', certificatesPlan],
  ['post-reboot', 'agents/post-reboot', postRebootPlan],
  ['post-reboot on OpenShift', 'agents/post-reboot/openshift', postRebootOpenShiftPlan],
  ['aiokube', 'agents/aiokube', aiokubePlan],
  ['worker', 'agents/worker', workerPlan],
  ['sno-worker-trust', 'agents/worker/trust', workerTrustPlan],
  ['sno-renew', 'agents/upkeep/renew', renewPlan],
  ['sno-backup', 'agents/upkeep/backup', backupPlan],
  ['sno-backup-push', 'agents/upkeep/backup-push', backupPushPlan],
  ['sno-backup-restore', 'agents/upkeep/backup/restore', backupRestorePlan],
  ['sno-rotate', 'agents/upkeep/rotate', rotatePlan],
  ['sno-identity', 'agents/upkeep/identity', identityPlan],
  ['sno-address', 'agents/upkeep/address', followAddressPlan],
  ['sno-trial', 'agents/upkeep/trial', trialPlan],
  ['sno-update', 'agents/upkeep/update', updatePlan],
  ['sno-update on a worker', 'agents/upkeep/update/worker', workerUpdatePlan],
  ['reconfigure', 'agents/reconfigure', reconfigurePlan],
  ['reconfigure on OpenShift', 'agents/reconfigure/openshift', reconfigureOpenShiftPlan],
  ['reconfigure prepare', 'agents/reconfigure/prepare', preparePlan],
  ['reconfigure prepare --undo', 'agents/reconfigure/prepare', undoPlan],
  [
    'reconfigure prepare on OpenShift',
    'agents/reconfigure/prepare/openshift',
    openShiftPreparePlan,
  ],
  [
    'reconfigure prepare --undo on OpenShift',
    'agents/reconfigure/prepare/openshift',
    openShiftUndoPlan,
  ],
  ['reconfigure validate', 'agents/reconfigure/validate', validateOn('kubernetes')],
  ['reconfigure validate on OpenShift', 'agents/reconfigure/validate', validateOn('openshift')],
  ['sno-approve', 'agents/upkeep/approve', approvePlan],
  ['sno-deferred', 'agents/deferred', deferredPlan],
  ['sno-report', 'agents/upkeep/report', reportPlan],
];

/** Settings that give a time. */
const TIMES = Object.entries(defaultSettings).flatMap(([name, value]) =>
  /(?:Ms|Hours)$/.test(name) && typeof value === 'number' ? [{ name, value }] : [],
);
/** Longer than every deadline, so that it also shows in the longest of several. */
const MUCH = 1e10;

/** The names of the settings that each deadline depends on: those by whose change it changes. */
function settingsOf(planOf: PlanOf): readonly (readonly string[])[] {
  const changed = TIMES.map(({ name, value }) => ({
    name,
    steps: planOf({ ...defaultSettings, [name]: value + MUCH }).steps,
  }));
  return planOf(defaultSettings).steps.map(({ deadlineMs }, index) =>
    changed
      .filter(({ steps }) => steps[index]?.deadlineMs !== deadlineMs)
      .map(({ name }) => `\`${name}\``),
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** In the largest unit of which it is a whole number. */
function duration(ms: number): string {
  for (const [unit, length] of UNITS) {
    if (ms % length === 0) return `${ms / length} ${unit}`;
  }
  return `${ms / 1000} s`;
}

/** How it ends and how long its result counts, as far as that is not the rule. */
function remarks({ retry, neededUntil, removesState, instead }: Step<never>): string {
  return [
    ...(retry === undefined ? ['one attempt'] : []),
    ...(neededUntil === undefined ? [] : [`needed until ${neededUntil}`]),
    ...(instead === undefined ? [] : ['the plan continues without it']),
    ...(removesState === true ? ["removes the agent's state"] : []),
  ].join(', ');
}

function section([heading, folder, planOf]: (typeof PLANS)[number]): string {
  const settings = settingsOf(planOf);
  const { purpose, unit, steps } = planOf(defaultSettings);
  const rows = steps.map((step, index) =>
    row([
      String(index + 1),
      step.name,
      step.leaves,
      step.touches.join(', '),
      settings[index]?.join(', ') || 'fixed',
      duration(step.deadlineMs),
      remarks(step),
    ]),
  );
  return `## ${heading}

${purpose.slice(0, 1).toUpperCase()}${purpose.slice(1)}. Unit: \`${unit}\`. Plan: [${folder}](../../${folder}/plan.ts).

${table(['#', 'Step', 'Leaves', 'Touches', 'Deadline', 'Default', 'Remarks'], rows)}
`;
}

/** Every plan with its steps in order, as Markdown. */
export function plansReference(): string {
  return `# Plans

Generated from the code by \`docs/generate.ts\`; do not edit. The steps of every agent in the order in which they run; on a
host, \`AGENT plan\` prints those of one. A step is done when what it leaves is there; what it touches can be missing, full,
slow or wrong. Its deadline spans all attempts, also across restarts of the agent. It is the value of the named
[setting](settings.md), or their sum or maximum where there are several. Until then a step is tried again, unless the remarks
say that a run of the agent makes one attempt. A result that is needed until another step is no longer checked once that step is done.
\`gather\` has no plan: it collects what it can within one deadline.

${PLANS.map(section).join('\n')}`;
}
