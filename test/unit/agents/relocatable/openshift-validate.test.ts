/** What `reconfigure validate` asks of OpenShift and its host. */
import t, { type Test } from 'tap';
import { validateContext } from '../../../../agents/reconfigure/validate/context.ts';
import { openShiftPlatform } from '../../../../agents/reconfigure/validate/openshift.ts';
import { validatePlan } from '../../../../agents/reconfigure/validate/plan.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { kubeconfig, tokenKubeconfig } from '../../../../lib/pki/kubeconfig.ts';
import { withLocalAdministrator } from '../../../../lib/render/openshift/installed-access.ts';
import { settings } from '../distinct-settings.ts';
import { type ApiAnswer, listOf } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import {
  discoveryOf,
  NODE,
  openShiftApi,
  openShiftHost,
  said,
  servedPlurals,
  steadyDaemon,
} from './openshift-host.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const policy = { internalAddress: NODE.address, nodeName: NODE.nodeName, shippingDays: 30 };
const CLIENT_PAIR = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const BOOTSTRAP = '/etc/kubernetes/kubeconfig';

const authority = await createAuthority('signer');
const kubelet = await issueLeaf(authority, {
  subject: { commonName: 'system:node:edge-0', organizations: ['system:nodes'] },
  usage: 'client',
  lifetimeDays: 20,
});

const withToken = tokenKubeconfig(
  { server: 'https://api-int.edge.example.test:6443', cluster: 'edge', user: 'kubelet' },
  { authority: 'kubelet-ca.crt', token: 'e30.e30.c2ln' },
);

async function platformOn(
  t: Test,
  {
    change = {},
    endpoints = [NODE.address],
    served = servedPlurals,
    unknownReleaseAccepted,
  }: {
    change?: Partial<typeof said>;
    endpoints?: string[];
    served?: typeof servedPlurals;
    unknownReleaseAccepted?: true;
  } = {},
) {
  const host = openShiftHost(t);
  host.write(CLIENT_PAIR, kubelet.certificate + kubelet.key, 0o600);
  const others: Record<string, ApiAnswer> = {
    'GET /api/v1/secrets': ({ query }) => {
      t.equal(query.get('fieldSelector'), 'type=kubernetes.io/tls');
      const data = { 'tls.crt': Buffer.from(authority.certificate).toString('base64') };
      return listOf({ metadata: { namespace: 'openshift-service-ca', name: 'signing-key' }, data });
    },
    'GET /api/v1/namespaces/openshift-etcd/configmaps/etcd-endpoints': () => ({
      metadata: { name: 'etcd-endpoints' },
      data: Object.fromEntries(endpoints.map((address, index) => [`m${index}`, address])),
    }),
    'GET /api/v1/namespaces/openshift-etcd/pods/etcd-edge-0': () => ({
      metadata: { name: 'etcd-edge-0' },
      spec: {
        containers: [
          { name: 'etcdctl', image: 'registry.test/other' },
          { name: 'etcd', image: 'registry.test/etcd@sha256:1' },
        ],
      },
    }),
    'GET /version': () => ({ gitVersion: 'v1.34.1' }),
    'GET /apis/operators.coreos.com/v1alpha1/clusterserviceversions': () => listOf(),
    'GET /apis/operators.coreos.com/v1alpha1/catalogsources': () => listOf(),
    ...discoveryOf(served),
  };
  await openShiftApi(t, host, change, others);
  const platform = openShiftPlatform(
    host.context,
    { ...policy, ...(unknownReleaseAccepted ? { unknownReleaseAccepted } : {}) },
    async (server, name) => {
      t.equal(server, NODE.address);
      if (name.startsWith('console.')) throw new Error('ETIMEOUT');
      return [server];
    },
  );
  const facts = () =>
    withLocalAdministrator(host.paths, (client) => platform.facts(client, limits));
  return { host, platform, facts };
}

t.test('a node as it should be', async (t) => {
  const { host, facts, platform } = await platformOn(t);
  host.write('/etc/kubernetes/kubelet-ca.crt', authority.certificate);
  host.write(BOOTSTRAP, withToken, 0o600);
  const found = await facts();
  t.match(found, {
    kubelet: { nodeIps: [NODE.address], nodeName: 'edge-0' },
    versions: { kubernetes: 'v1.34.1', openshift: '4.21.3' },
  });
  t.same(found.otherFaults, []);
  t.match(
    found.certificates.map(({ name, path, madeAgain }) => [name, path, madeAgain]),
    [
      ['signing-key', 'Secret openshift-service-ca/signing-key', undefined],
      ['administrator', 'node-kubeconfigs', undefined],
      ['kubelet-client', CLIENT_PAIR, /has to be approved/],
    ],
  );
  t.same(found.ownNames, [
    { name: `api.${NODE.clusterDomain}`, answer: [NODE.address] },
    { name: `api-int.${NODE.clusterDomain}`, answer: [NODE.address] },
    { name: `console.apps.${NODE.clusterDomain}`, answer: 'ETIMEOUT' },
  ]);
  const probe = await withLocalAdministrator(host.paths, (client) =>
    platform.probeMaterial(client, limits),
  );
  t.equal(probe.image, 'registry.test/etcd@sha256:1');
  t.equal(probe.withoutServices, undefined);
  // What Pod Security "restricted" demands; the rest is that of the namespace.
  t.match(probe.securityContext, {
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  t.equal(platform.windowMs, host.context.settings.validateOperatorsWindowMs);
  t.notMatch(JSON.stringify(probe.securityContext), /runAsUser|runAsGroup|fsGroup/);
});

const without: readonly (readonly [what: string, change: (host: TestHost) => void])[] = [
  ['no kubeconfig for it', () => undefined],
  [
    'one without credentials',
    (host) => {
      host.write('/etc/kubernetes/kubelet-ca.crt', authority.certificate);
      host.write(
        BOOTSTRAP,
        withToken.replace(/^\s*token: .*\n/m, '').replace(/user:$/m, 'user: {}'),
      );
    },
  ],
  [
    'one whose certificate ends on the way',
    (host) =>
      host.write(
        BOOTSTRAP,
        kubeconfig({
          server: 'https://x',
          cluster: 'edge',
          user: 'kubelet',
          credentials: {
            kind: 'embedded',
            authority: authority.certificate,
            certificate: kubelet.certificate,
            key: kubelet.key,
          },
        }),
      ),
  ],
];

for (const [what, change] of without) {
  t.test(`a kubelet that cannot ask for another certificate: ${what}`, async (t) => {
    const { host, facts } = await platformOn(t);
    change(host);
    const { certificates } = await facts();
    const found = certificates.find(({ name }) => name === 'kubelet-client');
    t.match(found, { state: 'valid' });
    t.equal(found?.madeAgain, undefined);
  });
}

t.test('a kubelet without a certificate, and a damaged kubeconfig', async (t) => {
  const { host, facts } = await platformOn(t);
  host.remove(CLIENT_PAIR);
  const { certificates } = await facts();
  t.match(certificates.at(-1), { name: 'kubelet-client', state: 'unreadable' });
  host.write(BOOTSTRAP, 'kind: [');
  await t.rejects(facts(), /kubernetes\/kubeconfig/);
});

const atWork = { ...steadyDaemon, 'machineconfiguration.openshift.io/state': 'Working' };
const faults: readonly [what: string, Parameters<typeof platformOn>[1], says: RegExp][] = [
  [
    'another member of etcd',
    { endpoints: [NODE.address, '192.0.2.11'] },
    /members of etcd.*192\.0\.2\.11/,
  ],
  ['a member at another address', { endpoints: ['198.51.100.4'] }, /members of etcd/],
  ['no member', { endpoints: [] }, /found none/],
  [
    'a release that came later',
    {
      change: {
        version: { metadata: { name: 'version' }, status: { desired: { version: '5.1.1' } } },
      },
    },
    /release: OpenShift 5\.1\.1/,
  ],
  [
    'a kind that an update has taken away',
    { served: { ...servedPlurals, 'operator.openshift.io/v1alpha1': [] } },
    /served-kinds: the API serves no imagecontentsourcepolicies/,
  ],
  [
    'a machine-config daemon that is at work',
    { change: { nodes: [{ metadata: { name: 'edge-0', annotations: atWork } }] } },
    /machine-config-daemon: the Node has the state Working/,
  ],
];

for (const [what, given, says] of faults) {
  t.test(`a fault: ${what}`, async (t) => {
    const { facts } = await platformOn(t, given);
    t.match((await facts()).otherFaults, [says]);
  });
}

t.test('the machine-config daemon is that of the own Node', async (t) => {
  const other = { metadata: { name: 'other', annotations: {} } };
  const { facts } = await platformOn(t, { change: { nodes: [other, ...said.nodes] } });
  t.same((await facts()).otherFaults, []);
});

t.test('a host that an update has changed since it was prepared', async (t) => {
  const { host, facts } = await platformOn(t);
  host.write('/profiles', 'uuid-1:br-ex\n');
  host.write('/etc/ovnk/default_bridge', 'ens4');
  t.match((await facts()).otherFaults, [/^ovn-profiles: /, /^ovn-bridge-by-hand: /]);
});

t.test('a release that is known needs no note', async (t) => {
  const { facts } = await platformOn(t);
  t.same((await facts()).otherNotes, []);
});

t.test('an unknown release that was accepted is in the report', async (t) => {
  const version = { metadata: { name: 'version' }, status: { desired: { version: '5.1.1' } } };
  const { facts } = await platformOn(t, { change: { version }, unknownReleaseAccepted: true });
  const { otherFaults, otherNotes } = await facts();
  t.same(otherFaults, []);
  t.match(otherNotes, [/5\.1\.1 is unknown to relocation, and is treated as 5\.0/]);
});

t.test('files that were changed since it was prepared', async (t) => {
  const { host, facts } = await platformOn(t);
  host.write('/etc/resolv.conf', 'nameserver 127.0.0.1\n');
  t.match((await facts()).otherFaults, [/resolv\.conf has other contents/]);
});

t.test('not a node that was not prepared', async (t) => {
  const host = openShiftHost(t);
  await t.rejects(validateContext(host.paths), { kind: 'usage', message: /not relocatable/ });
});

t.test('its plan has time for its operators', async (t) => {
  const deadline = (controlPlane: 'openshift' | 'kubernetes') =>
    validatePlan(settings, { controlPlane }, { seals: true, isSealed: false }).steps.map(
      ({ name, deadlineMs }) => [name, deadlineMs],
    );
  t.same(deadline('openshift'), [
    ['inspect', settings.validateOperatorsMs],
    ['seal', settings.finishMs],
  ]);
  t.same(deadline('kubernetes'), [
    ['inspect', settings.validateMs],
    ['seal', settings.finishMs],
  ]);
});
