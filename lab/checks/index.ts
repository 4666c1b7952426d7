import { bootPartition } from './boot-partition.ts';
import type { ClusterCheck, DiskCheck } from './check.ts';
import { nodeReady } from './node-ready.ts';
import { unitsGone } from './units-gone.ts';

export const diskChecks: readonly DiskCheck[] = [bootPartition];

export const clusterChecks: readonly ClusterCheck[] = [nodeReady, unitsGone];
