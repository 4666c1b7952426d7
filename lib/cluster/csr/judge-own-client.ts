import { clientSigner } from '../../clients/kube/signers.ts';
import {
  type CsrJudgement,
  type CsrRequest,
  differs,
  judgedBy,
  noAttributes,
  provenKey,
  type Rules,
  timely,
  undecided,
  usages,
  whyOther,
  whyOtherSubject,
} from './checks.ts';
import type { SigningRequest } from './signing-request.ts';

/** Of OpenShift: whoever has the kubeconfig in /etc/kubernetes/kubeconfig, with which a kubelet without a certificate asks for one. */
export const nodeBootstrapper =
  'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper';
const groups = [
  'system:serviceaccounts',
  'system:serviceaccounts:openshift-machine-config-operator',
  'system:authenticated',
];

/** What a request for this host's client certificate is compared with. */
export interface OwnClientView {
  readonly nodeName: string;
}

/** Everything that a rule may look at. */
export interface OwnClientCase extends CsrRequest {
  readonly view: OwnClientView;
}

export const ownClientRules: Rules<OwnClientCase> = {
  outer: [
    ['pending', undecided],
    [
      'signer',
      ({ csr }) =>
        csr.signerName === clientSigner ? undefined : differs(clientSigner, csr.signerName),
    ],
    [
      'requestor',
      ({ csr }) =>
        csr.username === nodeBootstrapper
          ? undefined
          : differs(nodeBootstrapper, csr.username || 'nobody'),
    ],
    ['groups', ({ csr }) => whyOther(csr.groups, groups)],
    ...timely,
  ],
  inner: [
    ...provenKey,
    ['subject', ({ certificate, view }) => whyOtherSubject(certificate, view.nodeName)],
    ['extensions', noAttributes],
    usages('client auth'),
  ],
};

/**
 * Whether a request is this node's own, for the client certificate that it has lost by its expiry. The kubelet keeps the key in memory
 * until it is answered, so nothing on the host proves that it has asked: any holder of the node bootstrapper's token could. Therefore
 * such requests are judged only while the kubelet has no valid certificate.
 */
export function judgeOwnClient(
  csr: SigningRequest,
  view: OwnClientView,
  now: Date,
  rules: Rules<OwnClientCase> = ownClientRules,
): CsrJudgement {
  return judgedBy(rules, { csr, view, now });
}
