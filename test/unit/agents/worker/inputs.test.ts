/** What a worker has done is done again for another cluster or host name, if it depends on it. */
import t from 'tap';
import type { PlainHost } from '../../../../agents/steps/host-context.ts';
import { approveWorkers } from '../../../../agents/upkeep/approve/approve-workers.ts';
import { finish } from '../../../../agents/worker/finish.ts';
import { kubeletFiles } from '../../../../agents/worker/kubelet-files.ts';
import { kubeletIdentity } from '../../../../agents/worker/kubelet-identity.ts';
import { leftovers } from '../../../../agents/worker/leftovers.ts';
import { podNetwork } from '../../../../agents/worker/pod-network.ts';
import { servingCertificate } from '../../../../agents/worker/serving-certificate.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { testHost } from '../host/host.ts';

const table: [step: Pick<StepBody<PlainHost>, 'name' | 'input'>, forAnother: readonly string[]][] =
  [
    [kubeletIdentity, ['cluster', 'name']],
    [kubeletFiles, ['cluster', 'name']],
    [podNetwork, ['name']],
    [servingCertificate, ['name']],
    [leftovers, ['cluster']],
    [finish, ['cluster']],
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
