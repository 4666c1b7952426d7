import type { CertificateSigningRequest } from '../../clients/kube/resources.ts';
import { moving, type SteadyJudgement } from './finding.ts';

/** A certificate that this host's kubelet still waits for. */
export const judgeRequests = (
  all: readonly CertificateSigningRequest[],
  nodeName: string,
): SteadyJudgement => ({
  findings: all
    .filter(({ spec, status }) => {
      const isOpen = (status?.conditions ?? []).length === 0 || isApproved(status);
      const isSigned = status?.certificate !== undefined;
      return spec.username === `system:node:${nodeName}` && isOpen && !isSigned;
    })
    .map(({ metadata, spec, status }) =>
      moving(
        `CertificateSigningRequest ${metadata.name}`,
        isApproved(status) ? 'is not signed yet' : `to ${spec.signerName} is not decided yet`,
        "of this host's kubelet",
      ),
    ),
  facts: [],
});

const isApproved = (status: CertificateSigningRequest['status']): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Approved' && status === 'True') ?? false;
