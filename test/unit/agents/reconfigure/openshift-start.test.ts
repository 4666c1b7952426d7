/** The certificates of a kubelet of OpenShift that have expired on the way: it requests others, and nobody else approves them. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import t, { type Test } from 'tap';
import { startOpenShift } from '../../../../agents/reconfigure/openshift/start.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { nodeBootstrapper } from '../../../../lib/cluster/csr/judge-own-client.ts';
import { fingerprintOf } from '../../../../lib/cluster/csr/views.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import { credential, recentRequest } from '../../cluster/csr/requests.ts';
import { dns, first, ip, subjectOf } from '../../cluster/csr/worker-requests.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf, refuse } from '../host/api.ts';
import { ofUnits } from './openshift-disk.ts';
import { openShiftArrived } from './openshift-site.ts';
import { INTERNAL } from './site-host.ts';

const KUBECONFIG =
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig';
const CLIENT = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const SERVING = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const NODE = 'edge-0';

const authority = await createAuthority('kubelet-signer', 3650, new Date(Date.now() - daysMs(90)));
/** A certificate from so many days ago, with its key; for so many days. */
const pairOf = async (usage: 'client' | 'server', fromDays: number, days: number) => {
  const subject = { commonName: `system:node:${NODE}`, organizations: ['system:nodes'] };
  const profile = {
    subject,
    usage,
    lifetimeDays: days,
    ...(usage === 'server' ? { dnsNames: [NODE] } : {}),
  };
  const pair = await issueLeaf(authority, profile, new Date(Date.now() - daysMs(fromDays)));
  return `${pair.certificate}${pair.key}`;
};
const valid = { client: await pairOf('client', 1, 30), server: await pairOf('server', 1, 30) };
const expired = { client: await pairOf('client', 60, 30), server: await pairOf('server', 60, 30) };
const early = { client: await pairOf('client', -10, 30), server: await pairOf('server', -10, 30) };

const approvalOf = (name: string) => `PUT ${REQUESTS}/${name}/approval`;
const ofClient = first({
  subject: subjectOf(NODE),
  spec: {
    username: nodeBootstrapper,
    groups: [
      'system:serviceaccounts',
      'system:serviceaccounts:openshift-machine-config-operator',
      'system:authenticated',
    ],
  },
});
const ofServing = {
  subject: subjectOf(NODE),
  names: [dns(NODE), ip(INTERNAL)],
  spec: {
    username: `system:node:${NODE}`,
    extra: credential(fingerprintOf(valid.client) ?? ''),
  },
};

/** A host at its site whose kubelet has these pairs, and gets each that is approved for it. */
async function started(
  t: Test,
  pairs: { readonly client?: string; readonly server?: string },
  readyz: ApiAnswer = () => ({}),
) {
  const it = await openShiftArrived(t);
  const { host } = it;
  t.teardown(() => syncBuiltinESMExports());
  t.capture(os, 'hostname', () => NODE);
  syncBuiltinESMExports();
  host.write('/etc/hostname', `${NODE}\n`);
  if (pairs.client !== undefined) host.write(CLIENT, pairs.client, 0o600);
  if (pairs.server !== undefined) host.write(SERVING, pairs.server, 0o600);
  const pending = [
    await recentRequest('of-client', ofClient),
    await recentRequest('of-serving', ofServing),
    await recentRequest('of-another', { ...ofClient, subject: subjectOf('edge-1') }),
  ];
  const issued =
    (path: string, pair: string): ApiAnswer =>
    ({ body }) => {
      host.write(path, pair, 0o600);
      return JSON.parse(body);
    };
  const api = await fakeApi(t, host, {
    'GET /readyz': (request) => readyz(request),
    [`GET ${REQUESTS}`]: ({ query }) =>
      listOf(
        ...pending.filter(
          ({ spec }) => query.get('fieldSelector') === `spec.signerName=${spec.signerName}`,
        ),
      ),
    'GET /api/v1/nodes': () =>
      listOf({
        metadata: { name: NODE, uid: 'u' },
        status: { addresses: [{ type: 'InternalIP', address: INTERNAL }] },
      }),
    [approvalOf('of-client')]: issued(CLIENT, valid.client),
    [approvalOf('of-serving')]: issued(SERVING, valid.server),
  });
  host.write(KUBECONFIG, host.read(kubeconfigs.bootstrapAdmin), 0o600);
  return { ...it, approved: () => api.requests.filter((request) => request.startsWith('PUT')) };
}

const [client, serving] = [approvalOf('of-client'), approvalOf('of-serving')];
for (const [what, pairs, approvals] of [
  ['both are valid', valid, []],
  ['both have expired: first the one with which it asks', expired, [client, serving]],
  ['both are from a time when the clock was fast', early, [client, serving]],
  ['it has none', {}, [client, serving]],
  ['its client certificate has expired', { ...valid, client: expired.client }, [client]],
  ['its serving certificate has expired', { ...valid, server: expired.server }, [serving]],
  ['a pair is being written', { client: '', server: 'not yet' }, [client, serving]],
] as const) {
  t.test(`start: ${what}`, async (t) => {
    const { host, run, holds, approved } = await started(t, pairs);
    host.remove('/etc/sno-agents/sealed');
    t.equal(await holds(startOpenShift), approvals.length === 0);
    t.match(await run(startOpenShift), { kind: 'done' });
    t.same(approved(), approvals);
    t.same(ofUnits(host), ['daemon-reload', 'start --no-block kubelet.service']);
    t.ok(await holds(startOpenShift));
    host.write('/etc/sno-agents/sealed');
    t.notOk(await holds(startOpenShift), 'sealed, it would not start again');
  });
}

for (const [what, answer, says] of [
  ['is not ready', () => refuse(500, 'etcd', 'InternalError'), /not ready: .*(200|etcd)/],
  ['does not know its administrator', () => refuse(401, 'who?', 'Unauthorized'), /not ready: .*/],
] as const) {
  t.test(`start: an API server that ${what} is waited for, and has not held`, async (t) => {
    let isReady = false;
    const { host, run, holds, approved } = await started(t, expired, () =>
      isReady ? {} : answer(),
    );
    t.match(await run(startOpenShift), { kind: 'not-yet', reason: says });
    t.same(approved(), [], 'nothing is asked of it before');
    t.notOk(host.has('/etc/sno-agents/sealed'));
    isReady = true;
    t.match(await run(startOpenShift), { kind: 'done' });
    t.ok(await holds(startOpenShift));
    isReady = false;
    t.notOk(await holds(startOpenShift), 'its certificates are valid, but it is not ready');
  });
}
