import type { Stage } from './stage.ts';
import { apiStages } from './stages/api.ts';
import { controlPlaneStages } from './stages/control-plane.ts';
import { nodeStages } from './stages/node.ts';

/**
 * The stages of openshift-install's bootkube.sh, in its order. Its script of 4.19 was read as a
 * whole; the versions of the differences are those of the changes to it: 4.15 installer#7666 and
 * #7662, 4.16 #8099, 4.18 #8813 and #8973, 4.19 #9424, 4.22 #10295. Which stages run at the same
 * time follows from `needs` and `makes`.
 */
export const STAGES: readonly Stage[] = [...apiStages, ...controlPlaneStages, ...nodeStages];
