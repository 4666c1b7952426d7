import type { Test } from 'tap';
import type { CertificateSigningRequest } from '../../../../lib/clients/kube/resources.ts';
import type { Decision } from '../../../../lib/cluster/csr/decision.ts';
import { judge, type OwnView } from '../../../../lib/cluster/csr/judge.ts';
import { PendingRequests } from '../../../../lib/cluster/csr/pending-requests.ts';
import type { HostView } from '../../../../lib/cluster/csr/views.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';
import { host, node, recentRequest } from './requests.ts';

export const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Pending requests of this host, the API in which they are approved, and the outcome of each. */
export async function startDeciding(t: Test, view: () => Promise<HostView> = async () => host) {
  const { api, client } = await startFakeApi(t);
  const decisions: Decision[] = [];
  const pending = new PendingRequests<OwnView>(client, {
    signal: AbortSignal.timeout(60_000),
    judge: (csr, view, now) => {
      judged.push(csr.name);
      return judge(csr, view, now);
    },
    isExpected: ({ username }) => username === `system:node:${host.nodeName}`,
    approval: ({ spec }) => ({ reason: 'Test', message: `by ${spec.username}` }),
    report: (decision) => decisions.push(decision),
  });
  const judged: string[] = [];
  let version = 0;
  const set = (request: CertificateSigningRequest) => {
    const { name } = request.metadata;
    api.set(`${REQUESTS}/${name}`, request);
    version += 1;
    pending.replace(name, {
      ...request,
      metadata: { ...request.metadata, resourceVersion: `${version}` },
    });
  };
  const decide = (ownNode: typeof node | 'none' = node) =>
    pending.decide(async () => ({
      host: await view(),
      node: ownNode === 'none' ? undefined : ownNode,
    }));
  const run = (requests: CertificateSigningRequest[], ownNode?: typeof node | 'none') => {
    for (const request of requests) set(request);
    return decide(ownNode);
  };
  const outcomes = () =>
    decisions.map(({ request, judgement }) =>
      'rule' in judgement ? [request, judgement.verdict, judgement.rule] : [request, 'approve'],
    );
  const approvals = () => api.requests.map(({ method, path }) => `${method} ${path}`);
  return { api, pending, run, decide, decisions, judged, outcomes, approvals };
}

/** Requests of that user, which are left. */
export async function manyOf(username: string, count: number) {
  const foreign = await recentRequest('foreign', { spec: { username } });
  return Array.from({ length: count }, (_, at) => {
    const name = `${username}-${at}`;
    return { ...foreign, metadata: { ...foreign.metadata, name, uid: name } };
  });
}
