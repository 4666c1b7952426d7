import { hostname } from 'node:os';
import { productVersion } from '../../../lib/base/version.ts';
import type { NodeReport } from '../../../lib/engine/report/node-report.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { machineIdentifiers } from '../../../lib/host/machine-identifiers.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { reportedChanges } from './changes.ts';
import { nextExpiry } from './next-expiry.ts';
import type { Statuses } from './statuses.ts';

/** What is known of this node now. Its number and its time come with the sending. */
export type Collected = Omit<NodeReport, 'sequence' | 'at'>;

export async function collect(paths: HostPaths, statuses: Statuses): Promise<Collected> {
  const expiry = await nextExpiry(paths);
  return {
    schemaVersion: 1,
    node: hostname(),
    machine: await machineIdentifiers(paths),
    version: productVersion,
    ...(expiry === undefined ? {} : { nextExpiry: expiry }),
    changes: await reportedChanges(paths, statuses),
  };
}

/** By what two reports say the same. What a step waits for changes often, and is only told along with other news. */
export function digestOf({ changes, ...others }: Collected): string {
  const lasting = changes.map(({ step, ...change }) => {
    if (step === undefined) return change;
    const { waitingFor: _, ...where } = step;
    return { ...change, step: where };
  });
  return sha256(JSON.stringify({ ...others, changes: lasting }));
}
