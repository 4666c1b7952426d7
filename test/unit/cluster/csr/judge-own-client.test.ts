/** Requests of a kubelet of OpenShift whose client certificate has expired: exactly this node's are approved. */
import t from 'tap';
import {
  judgeOwnClient,
  nodeBootstrapper,
  ownClientRules,
} from '../../../../lib/cluster/csr/judge-own-client.ts';
import { now, signingRequest, type Variation } from './requests.ts';
import { dns, first, ip, subjectOf } from './worker-requests.ts';

const NODE = 'edge-0';
const GROUPS = [
  'system:serviceaccounts',
  'system:serviceaccounts:openshift-machine-config-operator',
  'system:authenticated',
];

/** A right request, varied. */
const own = ({ spec, ...variation }: Variation = {}): Variation =>
  first({
    subject: subjectOf(NODE),
    ...variation,
    spec: { username: nodeBootstrapper, groups: GROUPS, ...spec },
  });

const left: readonly {
  readonly rule: string;
  readonly title: string;
  readonly request: Variation;
}[] = [
  {
    rule: 'pending',
    title: 'one that is approved',
    request: own({ status: { conditions: [{ type: 'Approved', status: 'True' }] } }),
  },
  {
    rule: 'pending',
    title: 'one that is denied',
    request: own({ status: { conditions: [{ type: 'Denied', status: 'True' }] } }),
  },
  {
    rule: 'signer',
    title: 'a serving certificate',
    request: own({ spec: { signerName: 'kubernetes.io/kubelet-serving' } }),
  },
  {
    rule: 'signer',
    title: 'a client of any kind',
    request: own({ spec: { signerName: 'kubernetes.io/kube-apiserver-client' } }),
  },
  { rule: 'requestor', title: 'nobody', request: own({ spec: { username: '' } }) },
  {
    rule: 'requestor',
    title: 'another service account of the operator',
    request: own({
      spec: { username: 'system:serviceaccount:openshift-machine-config-operator:default' },
    }),
  },
  {
    rule: 'requestor',
    title: 'a bootstrap token',
    request: own({ spec: { username: 'system:bootstrap:abcdef' } }),
  },
  {
    rule: 'groups',
    title: 'a requestor with more groups',
    request: own({ spec: { groups: [...GROUPS, 'system:masters'] } }),
  },
  {
    rule: 'groups',
    title: 'a requestor with fewer groups',
    request: own({ spec: { groups: ['system:authenticated'] } }),
  },
  { rule: 'age', title: 'one of the factory', request: own({ created: '2029-12-01T00:00:00Z' }) },
  { rule: 'age', title: 'one without a time', request: own({ created: null }) },
  {
    rule: 'lifetime',
    title: 'for longer than usual',
    request: own({ spec: { expirationSeconds: 10 * 365 * 86_400 } }),
  },
  {
    rule: 'request',
    title: 'no certificate request',
    request: own({ pem: () => 'nothing' }),
  },
  {
    rule: 'request',
    title: 'two requests',
    request: own({ pem: (right) => right + right }),
  },
  { rule: 'key', title: 'a weak key', request: own({ key: 'RSA-1024' }) },
  {
    rule: 'subject',
    title: 'another node',
    request: own({ subject: subjectOf('edge-1') }),
  },
  {
    rule: 'subject',
    title: 'a host without a name',
    request: own({ subject: subjectOf('localhost') }),
  },
  {
    rule: 'subject',
    title: 'an administrator',
    request: own({ subject: [{ O: ['system:masters'] }, { CN: [`system:node:${NODE}`] }] }),
  },
  {
    rule: 'subject',
    title: 'a second group',
    request: own({
      subject: [
        { O: ['system:nodes'] },
        { O: ['system:masters'] },
        { CN: [`system:node:${NODE}`] },
      ],
    }),
  },
  { rule: 'extensions', title: 'a DNS name', request: own({ names: [dns(NODE)] }) },
  { rule: 'extensions', title: 'an address', request: own({ names: [ip('192.0.2.10')] }) },
  {
    rule: 'usages',
    title: 'a server',
    request: own({ spec: { usages: ['digital signature', 'server auth'] } }),
  },
  {
    rule: 'usages',
    title: 'a server as well',
    request: own({ spec: { usages: ['digital signature', 'client auth', 'server auth'] } }),
  },
];

t.test('that of this node is approved', async (t) => {
  for (const key of ['P-256', 'RSA-2048'] as const) {
    const csr = await signingRequest(own({ key }));
    t.same(judgeOwnClient(csr, { nodeName: NODE }, now), { verdict: 'approve' }, key);
  }
});

for (const { rule, title, request } of left) {
  t.test(`left pending: ${title}`, async (t) => {
    const csr = await signingRequest(request);
    t.match(judgeOwnClient(csr, { nodeName: NODE }, now), { verdict: 'leave', rule });
  });
}

t.test('without one of these rules, a request would be approved', async (t) => {
  const all = await Promise.all(
    left.map(async (row) => ({ row, csr: await signingRequest(row.request) })),
  );
  // Of an unreadable request, or an unsigned one, there is nothing to approve: crafted in each-rule.test.ts.
  const crafted = ['request', 'signature'];
  for (const name of [...ownClientRules.outer, ...ownClientRules.inner].map(([rule]) => rule)) {
    const rules = {
      outer: ownClientRules.outer.filter(([rule]) => rule !== name),
      inner: ownClientRules.inner.filter(([rule]) => rule !== name),
    };
    const through = all.filter(
      ({ csr }) => judgeOwnClient(csr, { nodeName: NODE }, now, rules).verdict === 'approve',
    );
    t.ok(through.length > 0 || crafted.includes(name), name);
  }
});
