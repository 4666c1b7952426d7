import { servingSigner } from '../../lib/clients/kube/signers.ts';
import type { BundleView, Evidence, Found, Rule } from '../bundle-view.ts';
import { hostFilesIn } from '../reading/hosts.ts';
import { installingUnit } from '../reading/installation.ts';
import { fieldsOf, linesLike } from '../reading/journal.ts';
import { type ApiObject, reportedObjects } from '../reading/objects.ts';
import { isUndecided, servingRequestedMs } from '../reading/serving-requests.ts';
import { textAt, textsAt } from '../reading/values.ts';
import { duration } from '../reading/words.ts';

/** Approvals take seconds: approvers watch and do not poll. */
const PENDING_MS = 2 * 60_000;
const CLIENT_SIGNERS = /^kubernetes\.io\/kube-apiserver-client(-kubelet)?$/;

/**
 * The kubelet requests its certificates with CertificateSigningRequests and continues without
 * them until one is approved. For each request that they do not approve, the agents log the
 * violated rule (lib/cluster/csr/decision.ts).
 */
export const csrPending: Rule = {
  name: 'csr-pending',
  looksFor:
    'a certificate request that has been neither approved nor denied for 2 minutes, and the reason: as logged by the agents, otherwise from its signer, requestor and usages',
  todo: 'Approve it manually only if you know who sent it: "kubectl certificate approve NAME".',
  find: (view) =>
    reportedObjects(view, 'csr').flatMap((request) => {
      const age = view.atMs - (request.createdMs ?? view.atMs);
      return !isUndecided(request) || age < PENDING_MS ? [] : [pending(view, request, age)];
    }),
};

function pending(view: BundleView, request: ApiObject, age: number): Found {
  const signer = textAt(request.raw, 'spec', 'signerName') ?? 'no signer';
  const requestor = textAt(request.raw, 'spec', 'username') ?? 'an unknown user';
  const said = whatAgentsSaid(view, request.name);
  const isOfNode = signer === servingSigner && nodeNames(view).includes(requestor);
  const { why, todo } = said ?? { ...explain(view, request, signer, requestor), where: [] };
  return {
    severity: isOfNode ? 'failing' : 'warning',
    title: `Request ${request.name} of ${requestor} to ${signer} has been pending for ${duration(age)}: ${why}`,
    sinceMs: Math.min(
      view.atMs - age,
      (isOfNode ? servingRequestedMs(view) : undefined) ?? Infinity,
    ),
    evidence: [...request.evidence(), ...(said?.where ?? [])],
    todo,
  };
}

const nodeNames = (view: BundleView) =>
  reportedObjects(view, 'nodes').map(({ name }) => `system:node:${name}`);

interface Why {
  readonly why: string;
  readonly todo: string;
}

function whatAgentsSaid(
  view: BundleView,
  name: string,
): (Why & { readonly where: Evidence[] }) | undefined {
  const said = hostFilesIn(view, 'journals/')
    .filter((path) => /\/?(bootkube|aiokube|approve-csr|sno-[^/]*)\.log$/.test(path))
    .flatMap((path) => linesLike(view, path, / request=\S+ rule=/))
    .map(({ text, evidence }) => ({ fields: fieldsOf(text), evidence }))
    .findLast(({ fields }) => fields.get('request') === name);
  if (said === undefined) return undefined;
  const rule = said.fields.get('rule') ?? '';
  return {
    why: `the agents did not approve it, by the rule "${rule}": ${said.fields.get('why')}`,
    todo: todoFor(rule),
    where: [said.evidence],
  };
}

function todoFor(rule: string): string {
  switch (rule) {
    case 'host-name':
      return 'Give the host its final name ("hostnamectl set-hostname") and restart the kubelet.';
    case 'names':
    case 'node-addresses':
      return "Compare the node's name and addresses with those of the host (network/ip-addr.json), restore what is missing on the host, and restart the kubelet: it sends a new request.";
    case 'credential':
      return "Somebody else acts as this node, or the kubelet's client certificate was replaced without a restart of the kubelet. Restart it: if its new request is approved, it was the latter.";
    case 'api':
      return 'The API did not take the approval. Look at the findings about the API and etcd; the agents try again.';
    case 'worker':
    case 'expiry':
      return 'If that host is supposed to join, add or renew its entry in /etc/sno-agents/workers.d.';
    case 'fingerprint':
      return 'Compare the fingerprint with the one on the console of that host. If it is another one, find out which host sent the request.';
    case 'node-exists':
      return 'If the host was installed again, delete its Node ("kubectl delete node NAME"); otherwise find out which host sent the request.';
    case 'age':
      return 'Nothing waits for it any more. Delete it, and restart the kubelet if it has no serving certificate.';
    default:
      return 'The request is not one that this node sends. Find out who sent it, and approve it manually only if you know why.';
  }
}

function explain(view: BundleView, request: ApiObject, signer: string, requestor: string): Why {
  const isNode = /^system:node:/.test(requestor);
  if (CLIENT_SIGNERS.test(signer)) {
    return {
      why: isNode
        ? 'a node requests a new client certificate, which the controller-manager approves automatically'
        : 'a first client certificate, which is not approved automatically, because a bootstrap token can request any name',
      todo: isNode
        ? 'Look at the log of kube-controller-manager, which should have approved it.'
        : `If a worker is supposed to join, check that it sent the request, and run "kubectl certificate approve ${request.name}".`,
    };
  }
  if (signer !== servingSigner) {
    return {
      why: `nothing here approves requests to ${signer}`,
      todo: 'Look at the controller that uses this signer.',
    };
  }
  const usages = textsAt(request.raw, 'spec', 'usages');
  if (!usages.includes('server auth')) {
    return {
      why: `it requests the usages ${usages.join(', ') || 'none'}, not for "server auth"`,
      todo: 'Find out who sent it: a kubelet does not send such a request.',
    };
  }
  if (!nodeNames(view).includes(requestor)) {
    return {
      why: `${requestor} is not a node of the cluster`,
      todo: "Compare the host's name with the node's: a renamed host sends requests as another node.",
    };
  }
  const unit = installingUnit(view);
  const during =
    unit === undefined
      ? ''
      : `During the installation, run "systemctl start ${unit}", which approves it. `;
  return {
    why: 'no agent has logged anything about it',
    todo: `${during}Once the installation is complete, with the Kubernetes payload, run "systemctl start sno-renew"; with OpenShift, check the node's addresses and run "oc adm certificate approve ${request.name}".`,
  };
}
