/** What a worker has done is done again for another cluster or host name, if it depends on it. */
import t from 'tap';
import type { PlainHost } from '../../../../agents/steps/host-context.ts';
import { approveWorkers } from '../../../../agents/upkeep/approve/approve-workers.ts';
import { finishWorker } from '../../../../agents/worker/finish.ts';
import { placeKubeletFiles } from '../../../../agents/worker/kubelet-files.ts';
import { workerKubeletIdentity } from '../../../../agents/worker/kubelet-identity.ts';
import { workerLeftovers } from '../../../../agents/worker/leftovers.ts';
import { podNetwork } from '../../../../agents/worker/pod-network.ts';
import { workerServingCertificate } from '../../../../agents/worker/serving-certificate.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { testHost } from '../host/host.ts';

const table: [step: Pick<StepBody<PlainHost>, 'name' | 'input'>, forAnother: readonly string[]][] =
  [
    [workerKubeletIdentity, ['cluster', 'name']],
    [placeKubeletFiles, ['cluster', 'name']],
    [podNetwork, ['name']],
    [workerServingCertificate, ['name']],
    [workerLeftovers, ['cluster']],
    [finishWorker, ['cluster']],
    [approveWorkers, ['cluster']],
  ];

t.test('inputs', async (t) => {
  const { context } = testHost(t);
  const others: Readonly<Record<string, PlainHost>> = {
    cluster: { ...context, cluster: { ...context.cluster, clusterId: 'another' } },
    name: { ...context, hostname: () => 'another' },
  };
  for (const [{ name, input }, expected] of table) {
    const before = JSON.stringify(await input(context));
    const found: string[] = [];
    for (const [what, other] of Object.entries(others)) {
      if (JSON.stringify(await input(other)) !== before) found.push(what);
    }
    t.same(found, expected, name);
  }
});
