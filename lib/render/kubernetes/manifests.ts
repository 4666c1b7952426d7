import { writeGoDocuments } from '../../base/go-yaml/write.ts';
import { administratorsAccess } from '../../clients/kube/administrators.ts';
import { installationStatusAccess } from '../../clients/kube/installation-status.ts';
import { servingSigner } from '../../clients/kube/signers.ts';
import { approverRole } from '../../clients/rights/approver-role.ts';
import { tokenSecret } from '../../clients/rights/bootstrap-token.ts';
import { deferredAccess } from '../../clients/rights/deferred.ts';
import { gatherAccess } from '../../clients/rights/gather.ts';
import { groupSubject, rbacBinding, userSubject } from '../../clients/rights/rbac.ts';
import { steadyAccess } from '../../clients/rights/steady.ts';
import { workersAccess } from '../../clients/rights/workers.ts';
import type { RenderedManifest, RenderInput } from '../renderer.ts';
import { addOnManifests } from './addons/index.ts';
import { hasDeferred, users } from './leaves.ts';

/**
 * The rights that the control plane needs in addition to Kubernetes' own bindings, and the
 * add-ons of the payload.
 *
 * Bootstrap tokens of other groups than that of workers have no rights on purpose. Nothing lets the
 * controller-manager approve a first client certificate for an arbitrary node name.
 */
export function manifests(input: Omit<RenderInput, 'authorities'>): RenderedManifest[] {
  return [
    manifest('10-kubelet-api-access.yaml', [
      // Logs, exec and metrics: the API server as a client of the kubelet.
      rbacBinding(
        { name: 'sno:kubelet-api' },
        userSubject(users.kubeletClient),
        'system:kubelet-api-admin',
      ),
    ]),
    manifest('10-kubelet-client-renewal.yaml', [
      // An existing node may renew its own client certificate, and no other.
      rbacBinding(
        { name: 'sno:kubelet-client-renewal' },
        groupSubject('system:nodes'),
        'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      ),
    ]),
    manifest('10-csr-approver.yaml', [
      approverRole(users.csrApprover, [servingSigner], [input.host.hostname]),
      rbacBinding({ name: users.csrApprover }, userSubject(users.csrApprover)),
    ]),
    manifest('10-workers.yaml', workersAccess()),
    ...(input.workerToken === undefined
      ? []
      : [manifest('10-worker-token.yaml', [tokenSecret(input.workerToken)])]),
    manifest('10-administrators.yaml', administratorsAccess()),
    manifest('10-gather.yaml', gatherAccess()),
    manifest('10-steady.yaml', steadyAccess()),
    manifest('10-installation-status.yaml', installationStatusAccess()),
    ...(hasDeferred(input)
      ? [manifest('10-deferred.yaml', deferredAccess(input.deferredGroups))]
      : []),
    ...addOnManifests(input),
  ];
}

function manifest(name: string, objects: readonly object[]): RenderedManifest {
  return { name, contents: writeGoDocuments(objects) };
}
