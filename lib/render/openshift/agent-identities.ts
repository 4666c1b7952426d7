import { writeGoDocuments } from '../../base/go-yaml/write.ts';
import { installationStatusAccess } from '../../clients/kube/installation-status.ts';
import { servingSigner } from '../../clients/kube/signers.ts';
import { approverRole } from '../../clients/rights/approver-role.ts';
import { rbacBinding, userSubject } from '../../clients/rights/rbac.ts';
import type { RenderedManifest } from '../renderer.ts';

/**
 * The user as whom requests of this host's kubelet are approved. No authority signs certificates for
 * it: an administrator acts for it, so that no other right can be used by mistake.
 */
export const csrApprover = 'sno-agents:csr-approver';

/** The rights of the users for whom the agents act on the installed host. */
export function agentIdentities(): RenderedManifest[] {
  return [
    manifest('99_sno-agents-csr-approver.yaml', [
      approverRole(csrApprover, [servingSigner]),
      rbacBinding({ name: csrApprover }, userSubject(csrApprover)),
    ]),
    manifest('99_sno-agents-installation-status.yaml', installationStatusAccess()),
  ];
}

function manifest(name: string, objects: readonly object[]): RenderedManifest {
  return { name, contents: writeGoDocuments(objects) };
}
