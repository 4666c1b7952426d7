/** A manifest of a kind that nothing serves yet, and what sno-deferred makes of it on OpenShift. */
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { applyDeferred } from '../../../agents/deferred/apply-deferred.ts';
import { retireDeferred } from '../../../agents/deferred/retire-deferred.ts';
import { hasHeldBack } from '../../../agents/reconfigure/hold-back.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { objectSchema, resources } from '../../../lib/clients/kube/resources.ts';
import { deferredRole, deferredStatus } from '../../../lib/clients/rights/deferred.ts';
import { readDeferred } from '../../../lib/cluster/deferred/manifests.ts';
import { deferredAccessOf } from '../../../lib/render/deferred-identity.ts';
import type { TestHost } from '../../unit/agents/host/host.ts';
import { operatorKubeconfig } from '../../unit/agents/post-reboot/openshift/cluster-objects.ts';
import type { ForkApiServer } from './fork-api-server.ts';

const group = 'fast.site.test';

export const LATER = `apiVersion: ${group}/v1
kind: Fast
metadata: {name: one}
`;

/** As an operator would bring it. */
const definition = stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `fasts.${group}` },
  spec: {
    group,
    names: { kind: 'Fast', plural: 'fasts' },
    scope: 'Cluster',
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
});

/** It waits on the host; it is applied once its kind is served, with the rights for its group only; nothing is left then. */
export async function appliedLater(
  t: Test,
  { admin, controlPlane, limits, apply }: ForkApiServer,
  host: TestHost,
): Promise<void> {
  t.match(await readDeferred(host.paths), [{ manifest: { kind: 'Fast', name: 'one' } }]);
  const kubeconfig = await controlPlane.kubeconfig({ name: 'admin', groups: ['system:masters'] });
  host.write(operatorKubeconfig, kubeconfig, 0o600);
  await apply('definition of Fast', definition);
  const context = { ...host.context, expires: new Date(Date.now() + 3_600_000) };
  t.match(await applyDeferred.run(context, host.progress()), { note: '1 applied' });
  const fasts = { apiVersion: `${group}/v1`, plural: 'fasts', schema: objectSchema };
  t.ok(await admin.find(fasts, { name: 'one' }, limits));
  const { data = {} } = await admin.get(resources.configMaps, deferredStatus, limits);
  t.match(Object.entries(data), [[/\.fast\.one$/, /^applied/]]);
  using applier = new KubeClient(await deferredAccessOf('openshift', host.paths));
  await t.rejects(applier.list(resources.secrets, {}, limits), /forbidden/);
  await retireDeferred.run(context, host.progress());
  const { resource, name } = deferredRole;
  t.equal(await admin.find(resource, { name }, limits), undefined);
  t.notOk(await hasHeldBack(host.paths));
}
