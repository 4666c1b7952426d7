import t from 'tap';
import { factoryReportSchema } from '../../../../lib/relocation/relocatable/report.ts';
import {
  CHECK_NAMES,
  type CheckName,
  type NodeFacts,
} from '../../../../lib/relocation/relocatable/validation/facts.ts';
import {
  judgeShipment,
  shelfLife,
} from '../../../../lib/relocation/relocatable/validation/judge.ts';
import { factoryPage } from '../../../../report/html/factory-page.ts';

const certificate: NodeFacts['certificates'][number] = {
  name: 'api-server-serving',
  path: '/etc/kubernetes/pki/serving.crt',
  state: 'valid',
  notBefore: '2030-01-01T00:00:00Z',
  notAfter: '2031-01-01T00:00:00Z',
};

/** Of OpenShift. */
const again: NodeFacts['certificates'][number] = {
  ...certificate,
  name: 'csr-signer',
  madeAgain: 'the control plane, when it starts',
};

const pod = {
  name: 'kube-system/etcd',
  isOnHostNetwork: true,
  podIp: '192.0.2.10',
  containers: [{ image: 'etcd:1', isAlwaysPulled: false, isLocal: true }],
};

/** A node without a fault. */
const good: NodeFacts = {
  now: new Date('2030-01-02T00:00:00Z'),
  internalAddresses: ['192.0.2.10'],
  nodeName: 'edge-0',
  shippingDays: 30,
  unsteady: undefined,
  operators: { faults: [], notes: [] },
  missingOnBridge: [],
  nodeAddresses: ['192.0.2.10'],
  nodes: ['edge-0'],
  apiEndpoints: ['192.0.2.10'],
  kubelet: { nodeIps: ['192.0.2.10'], nodeName: 'edge-0' },
  nodePortAddresses: ['0.0.0.0/0'],
  unitImages: [{ image: 'ip:1', path: '/etc/systemd/system/a.service', isPinned: true }],
  pods: [pod, { ...pod, name: 'default/web', isOnHostNetwork: false, podIp: '10.128.0.7' }],
  certificates: [certificate],
  hardwareClock: new Date('2030-01-02T00:00:03Z'),
  isTimeSynchronized: true,
  clusterDns: ['172.30.0.1'],
  apiService: '172.30.0.1',
  ownNames: [{ name: 'api.edge.test', answer: ['192.0.2.10'] }],
  otherFaults: [],
  otherNotes: [],
  arrival: { faults: [], notes: [] },
  versions: { kubernetes: 'v1.34.1' },
  probes: [],
};

const faultsOf = (facts: NodeFacts): string[] =>
  judgeShipment(facts).flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`));

t.test('what the cluster did when it was asked is in the report', async (t) => {
  const probes = [
    { name: 'workload', outcome: 'passed' },
    { name: 'volume', outcome: 'passed' },
    { name: 'node-port', outcome: 'not-tried', why: 'the payload has no kube-proxy' },
  ] as const;
  const found = judgeShipment({ ...good, probes }).find(({ name }) => name === 'conformance');
  t.strictSame(found, {
    name: 'conformance',
    faults: [],
    notes: [
      'workload: passed, a part of [sig-apps] Deployment should run the lifecycle of a Deployment',
      'volume: passed',
      'node-port: not tried, the payload has no kube-proxy',
    ],
  });
});

t.test('a node without a fault, in the order of the report', async (t) => {
  t.strictSame(
    judgeShipment(good),
    CHECK_NAMES.map((name) => ({ name, faults: [], notes: [] })),
  );
  const withoutProxy = { ...good, nodePortAddresses: undefined };
  t.strictSame(faultsOf(withoutProxy), [], 'a payload without kube-proxy has no node ports');
  const starting = { ...good, pods: [{ ...pod, podIp: undefined }] };
  t.strictSame(faultsOf(starting), [], 'a pod without an address is for the check of what moves');
});

t.test('a node of both families: all addresses of both, in their order', async (t) => {
  const own = ['192.0.2.10', '2001:db8::10'] as const;
  const dual: NodeFacts = {
    ...good,
    internalAddresses: [...own],
    nodeAddresses: own,
    kubelet: { nodeIps: own, nodeName: 'edge-0' },
    nodePortAddresses: ['0.0.0.0/0', '::/0'],
  };
  t.strictSame(faultsOf(dual), []);
  const half: [Partial<NodeFacts>, RegExp][] = [
    [{ nodeAddresses: ['192.0.2.10'] }, /expected 192\.0\.2\.10 and 2001:db8::10 alone/],
    [
      { kubelet: { nodeIps: own.toReversed(), nodeName: 'edge-0' } },
      /^internal-address: addresses of the kubelet/,
    ],
    [{ nodePortAddresses: ['0.0.0.0/0'] }, /node ports answer in 0\.0\.0\.0\/0 only/],
    [{ missingOnBridge: ['2001:db8::10'] }, /br-node does not have the address 2001:db8::10/],
  ];
  for (const [change, fault] of half) t.match(faultsOf({ ...dual, ...change }), [fault]);
});

const bad: readonly [check: CheckName, change: Partial<NodeFacts>, fault: RegExp][] = [
  ['settled', { unsteady: 'Moving: Deployment x' }, /^Moving: Deployment x$/],
  ['settled', { operators: { faults: ['a/b is Failed'], notes: [] } }, /^a\/b is Failed$/],
  ['services', { clusterDns: 'ETIMEOUT' }, /DNS does not answer: ETIMEOUT/],
  ['services', { clusterDns: ['172.30.0.2'] }, /says 172\.30\.0\.2 .* expected 172\.30\.0\.1/],
  ['services', { clusterDns: [] }, /expected 172\.30\.0\.1/],
  [
    'conformance',
    { probes: [{ name: 'service', outcome: 'failed', why: 'it does not answer' }] },
    /^service: it does not answer$/,
  ],
  [
    'images',
    { pods: [{ ...pod, containers: [{ image: 'a:1', isAlwaysPulled: false, isLocal: false }] }] },
    /^kube-system\/etcd: the image a:1 is not on the host$/,
  ],
  [
    'images',
    { pods: [{ ...pod, containers: [{ image: 'a:1', isAlwaysPulled: true, isLocal: true }] }] },
    /imagePullPolicy Always of a:1/,
  ],
  [
    'images',
    { unitImages: [{ image: 'ip:1', path: '/etc/a.service', isPinned: undefined }] },
    /^\/etc\/a\.service: the image ip:1 is not on the host$/,
  ],
  [
    'images',
    { unitImages: [{ image: 'ip:1', path: '/etc/a.service', isPinned: false }] },
    /ip:1 is not pinned/,
  ],
  [
    'internal-address',
    { missingOnBridge: ['192.0.2.10'] },
    /^br-node does not have the address 192\.0\.2\.10$/,
  ],
  ['internal-address', { nodeAddresses: undefined }, /^the API has no Node edge-0$/],
  ['internal-address', { nodeAddresses: ['10.0.0.5'] }, /addresses of the Node.*found 10\.0\.0\.5/],
  ['internal-address', { nodeAddresses: [] }, /found none/],
  ['internal-address', { nodeAddresses: ['192.0.2.10', '10.0.0.5'] }, /192\.0\.2\.10 alone/],
  ['internal-address', { nodes: ['edge-0', 'worker-1'] }, /^there are other Nodes: worker-1$/],
  ['internal-address', { apiEndpoints: ['10.0.0.5'] }, /^endpoints of the Service kubernetes/],
  [
    'internal-address',
    { kubelet: { nodeIps: ['10.0.0.5'], nodeName: 'edge-0' } },
    /^addresses of the kubelet/,
  ],
  [
    'internal-address',
    { kubelet: { nodeIps: ['192.0.2.10'], nodeName: undefined } },
    /expected edge-0 pinned, found none/,
  ],
  [
    'internal-address',
    { nodePortAddresses: ['192.0.2.0/24'] },
    /^node ports answer in 192\.0\.2\.0\/24 only$/,
  ],
  ['internal-address', { nodePortAddresses: [] }, /answer in no network only/],
  [
    'internal-address',
    { pods: [{ ...pod, podIp: '10.0.0.5' }] },
    /etcd has the address 10\.0\.0\.5/,
  ],
  [
    'certificates',
    { certificates: [{ ...certificate, notAfter: '2030-02-01T00:00:00Z' }] },
    /api-server-serving .* expires 2030-02-01T00:00:00Z, within 30 days/,
  ],
  [
    'certificates',
    { certificates: [{ ...certificate, state: 'unreadable' }] },
    /api-server-serving .* is unreadable/,
  ],
  [
    'certificates',
    { certificates: [{ ...certificate, state: 'not-yet-valid' }] },
    /is not valid yet/,
  ],
  [
    'certificates',
    { certificates: [{ ...again, state: 'expired', notAfter: '2030-01-01T12:00:00Z' }] },
    /csr-signer .* has expired 2030-01-01T12:00:00Z/,
  ],
  [
    'certificates',
    {
      certificates: [
        { ...again, notBefore: '2030-01-01T12:00:00Z', notAfter: '2030-01-02T12:00:00Z' },
      ],
    },
    /csr-signer .* is that of the installation.*leave the node switched on/,
  ],
  ['certificates', { certificates: [{ ...again, state: 'unreadable' }] }, /is unreadable/],
  ['certificates', { certificates: [{ ...again, state: 'not-yet-valid' }] }, /is not valid yet/],
  ['services', { ownNames: [{ name: 'api.x', answer: 'ETIMEOUT' }] }, /name server.*ETIMEOUT/],
  [
    'services',
    { ownNames: [{ name: 'api.x', answer: ['203.0.113.5'] }] },
    /^the node's name server says 203\.0\.113\.5 for api\.x, expected 192\.0\.2\.10$/,
  ],
  ['internal-address', { otherFaults: ['another fault'] }, /^another fault$/],
  ['arrival', { arrival: { faults: ['its keys are sealed'], notes: [] } }, /^its keys are sealed$/],
  ['clock', { now: new Date('2029-12-31T00:00:00Z') }, /before a certificate of 2030-01-01/],
  ['clock', { hardwareClock: new Date('2030-01-02T01:00:00Z') }, /hardware clock is 3600 s off/],
  ['clock', { hardwareClock: new Date('2030-01-01T23:00:00Z') }, /hardware clock is -3600 s off/],
];

t.test('each fault alone', async (t) => {
  for (const [check, change, fault] of bad) {
    const facts = { ...good, hardwareClock: change.now ?? good.hardwareClock, ...change };
    const found = judgeShipment(facts).filter(({ faults }) => faults.length > 0);
    t.strictSame(
      found.map(({ name }) => name),
      [check],
      `${check}: ${fault}`,
    );
    t.match(found[0]?.faults, [fault]);
  }
});

t.test('what is made again may expire on the way, and is no part of the shelf life', async (t) => {
  const certificates = [certificate, { ...again, notAfter: '2030-01-10T00:00:00Z' }];
  const [found] = judgeShipment({ ...good, certificates }).filter(
    ({ name }) => name === 'certificates',
  );
  t.strictSame(found?.faults, []);
  t.match(found?.notes, [/^csr-signer .* expires 2030-01-10.*made by the control plane, when/]);
  t.match(shelfLife(certificates), { name: 'api-server-serving' });
  t.equal(shelfLife([again]), undefined);
  const twoDays = { ...again, notBefore: '2030-01-01T12:00:00Z', notAfter: '2030-01-03T12:00:00Z' };
  t.strictSame(faultsOf({ ...good, certificates: [twoDays] }), [], 'of two days');
});

t.test('limits', async (t) => {
  const expiring = (notAfter: string) => ({
    ...good,
    certificates: [{ ...certificate, notAfter }],
  });
  t.equal(faultsOf(expiring('2030-02-01T00:00:01Z')).length, 0, 'a second after 30 days');
  t.equal(faultsOf(expiring('2030-02-01T00:00:00Z')).length, 1, 'after 30 days');
  const clock = (seconds: number) => ({
    ...good,
    hardwareClock: new Date(good.now.getTime() + seconds * 1000),
  });
  t.equal(faultsOf(clock(300)).length, 0);
  t.equal(faultsOf(clock(301)).length, 1);
  const begins = new Date(certificate.notBefore ?? '');
  t.same(faultsOf({ ...good, now: begins, hardwareClock: begins }), [], 'as soon as it is valid');
  const newer = { ...certificate, notBefore: '2030-01-03T00:00:00Z' };
  const certificates = [certificate, newer, certificate];
  t.match(faultsOf({ ...good, certificates }), [/^clock: .*before a certificate of 2030-01-03/]);
  for (const [notAfter, isNoted] of [
    ['2030-02-01T00:00:00Z', true],
    ['2030-02-01T00:00:01Z', false],
  ] as const) {
    const found = judgeShipment({ ...good, certificates: [certificate, { ...again, notAfter }] });
    t.equal(found.flatMap(({ notes }) => notes).length === 1, isNoted, notAfter);
  }
});

t.test('what cannot be known is noted, and no fault', async (t) => {
  const facts = { ...good, hardwareClock: undefined, isTimeSynchronized: false };
  t.strictSame(faultsOf(facts), []);
  t.strictSame(judgeShipment(facts).at(-1)?.notes, [
    'the host has no hardware clock',
    'no time server has confirmed the clock',
  ]);
});

t.test('what others have noted is in the report', async (t) => {
  const notes = judgeShipment({
    ...good,
    operators: { faults: [], notes: ['a catalog polls'] },
    otherNotes: ['the release was not read'],
    arrival: { faults: [], notes: ['only sites with DHCP'] },
  }).flatMap(({ name, notes: all }) => all.map((note) => `${name}: ${note}`));
  t.strictSame(notes, [
    'images: a catalog polls',
    'internal-address: the release was not read',
    'arrival: only sites with DHCP',
  ]);
});

t.test('the shelf life ends with the first certificate', async (t) => {
  const later = { ...certificate, name: 'later', notAfter: '2035-01-01T00:00:00Z' };
  const { notAfter: _, ...key } = { ...certificate, name: 'key' };
  t.strictSame(shelfLife([later, key, certificate]), {
    name: 'api-server-serving',
    until: '2031-01-01T00:00:00Z',
  });
  t.equal(shelfLife([key]), undefined);
});

t.test('the page says what the report says, and nothing of it is markup', async (t) => {
  const report = factoryReportSchema.parse({
    apiVersion: 'sno-agents/v1',
    kind: 'FactoryReport',
    at: '2030-01-02T00:00:00.000Z',
    version: '1.2.3',
    kubernetes: 'v1.34.4',
    passed: false,
    shippingDays: 30,
    shelfLife: { until: '2031-01-01T00:00:00Z', name: 'api-server-serving' },
    checks: judgeShipment({ ...good, unsteady: '<script>moving</script>' }),
    host: {
      apiVersion: 'sno-agents/v1',
      kind: 'HostFacts',
      controlPlane: 'kubernetes',
      clusterName: 'lab',
      baseDomain: 'example.test',
      nodeName: 'edge-0',
      internalAddresses: ['192.0.2.10'],
      clusterNetwork: [],
      serviceNetwork: [],
      adapters: ['eth0'],
      identifiers: ['sn-1'],
      recipient: 'age1x',
    },
  });
  const page = factoryPage(report);
  t.match(page, /<title>FAIL: the node cannot be shipped<\/title>/);
  t.match(page, /&lt;script&gt;moving/);
  t.notMatch(page, /<script/);
  for (const text of ['edge-0', '192.0.2.10', 'age1x', 'sn-1', '2031-01-01T00:00:00Z']) {
    t.ok(page.includes(text), text);
  }
  t.match(factoryPage({ ...report, passed: true }), /<h1>PASS: the node can be shipped/);
});
