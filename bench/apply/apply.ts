/** Applies a folder of manifests like bootkube, then exits: `apply KUBECONFIG FOLDER`. */

import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failedRows, failureTable } from '../../lib/clients/kube/apply-table.ts';
import { kubeClient } from '../../lib/clients/kube/client.ts';
import { loadManifests } from '../../lib/clients/kube/manifests.ts';
import { defaultSettings } from '../../lib/host/settings.ts';

const DEADLINE_MS = 300_000;

async function apply([kubeconfig = '', folder = '']: readonly string[]): Promise<void> {
  using client = await kubeClient(kubeconfig);
  const rows = await applyManifests(client, await loadManifests([folder]), {
    concurrency: defaultSettings.manifestsConcurrency,
    deadlineMs: DEADLINE_MS,
    signal: AbortSignal.timeout(DEADLINE_MS),
    report: () => {},
  });
  if (failedRows(rows).length > 0) throw new Error(failureTable(rows).join('\n'));
}

apply(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
