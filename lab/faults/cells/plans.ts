import { certificates, payload } from './before-kubelet.ts';
import { approve, backup, renew } from './daily.ts';
import type { PlanUnderTest } from './plan.ts';
import { rename, restore, rotate, rotateEtcd } from './requested.ts';
import { trial } from './trial.ts';
import { update, updateAll, updateOnTime } from './update.ts';

/** The plans of an installed host, with what each of them is given to do. */
export const plansUnderTest = {
  ...{ renew, backup, approve },
  ...{ payload, certificates },
  ...{ restore, rotate, rotateEtcd, rename, trial, update, updateOnTime, updateAll },
} as const satisfies Readonly<Record<string, PlanUnderTest>>;
