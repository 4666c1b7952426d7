import t from 'tap';
import { resourcePath, resources } from '../../../../lib/clients/kube/resources.ts';

const TIME = '2030-01-01T00:00:00Z';
const OFFSET = '2030-01-01T01:00:00.123456+01:00';
const CONDITION = { type: 'Ready', status: 'True', reason: 'R', message: 'm' };
const METADATA = {
  name: 'one',
  namespace: 'ns',
  uid: 'u',
  resourceVersion: '7',
  generation: 1,
  creationTimestamp: TIME,
  deletionTimestamp: OFFSET,
  annotations: { a: 'b' },
};

/** One object of each resource, with every field that is read. */
const OBJECTS: Readonly<Record<keyof typeof resources, object>> = {
  nodes: {
    metadata: METADATA,
    status: {
      conditions: [{ ...CONDITION, lastHeartbeatTime: TIME }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    },
  },
  pods: {
    metadata: METADATA,
    status: {
      phase: 'Running',
      conditions: [CONDITION],
      containerStatuses: [
        {
          name: 'etcd',
          restartCount: 0,
          containerID: 'containerd://c',
          state: { running: { startedAt: TIME } },
        },
      ],
    },
  },
  secrets: { metadata: { name: 'bootstrap-token-abcdef' } },
  configMaps: { metadata: METADATA, data: { a: 'b' } },
  daemonSets: { metadata: METADATA },
  leases: {
    metadata: METADATA,
    spec: { holderIdentity: 'n1', leaseDurationSeconds: 15, acquireTime: OFFSET, renewTime: TIME },
  },
  apiServices: { metadata: METADATA, status: { conditions: [CONDITION] } },
  customResourceDefinitions: { metadata: METADATA, status: { conditions: [CONDITION] } },
  certificateSigningRequests: {
    metadata: METADATA,
    spec: {
      request: 'UEVN',
      signerName: 'kubernetes.io/kubelet-serving',
      expirationSeconds: 600,
      usages: ['server auth'],
      username: 'system:node:n1',
      groups: ['system:nodes'],
    },
    status: { certificate: 'UEVN', conditions: [CONDITION] },
  },
};

/** Required fields of an object: its name, and those that identify something. */
const REQUIRED = [
  'metadata',
  'metadata.name',
  'status.conditions.0.type',
  'status.conditions.0.status',
  'status.addresses.0.type',
  'status.addresses.0.address',
  'status.containerStatuses.0.name',
  'status.containerStatuses.0.restartCount',
  'spec.request',
  'spec.signerName',
];
/** Fields that a server may write as null. */
const NULLABLE = [
  'metadata.creationTimestamp',
  'status.conditions.0.lastHeartbeatTime',
  'status.containerStatuses.0.state.running.startedAt',
  'spec.holderIdentity',
  'spec.leaseDurationSeconds',
  'spec.acquireTime',
  'spec.renewTime',
];
const TIMES = /(Time|Timestamp|startedAt)$/;
const BASE64 = /(request|certificate)$/;

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** Paths of all values in an object, including lists and objects. */
function pathsOf(value: unknown): string[] {
  return entriesOf(value).flatMap(([key, inner]) => [
    key,
    ...pathsOf(inner).map((path) => `${key}.${path}`),
  ]);
}

/** A copy with another value at a path; undefined removes it. */
function changed(value: unknown, path: string, other: unknown): unknown {
  const [key = '', ...rest] = path.split('.');
  const members = new Map(entriesOf(value));
  if (rest.length > 0) members.set(key, changed(members.get(key), rest.join('.'), other));
  else if (other === undefined) members.delete(key);
  else members.set(key, other);
  return Array.isArray(value) ? [...members.values()] : Object.fromEntries(members);
}

for (const [name, object] of Object.entries(OBJECTS)) {
  const { schema } = Object.entries(resources).find(([key]) => key === name)?.[1] ?? {};
  /** The path of the first fault; '' for a valid object. */
  const faultOf = (value: unknown) => {
    const result = schema?.safeParse(value);
    return result?.success ? '' : result?.error.issues[0]?.path.join('.');
  };

  t.test(`${name}: everything that is read has its type`, async (t) => {
    t.strictSame(schema?.parse(object), object);
    for (const path of pathsOf(object)) {
      t.equal(faultOf(changed(object, path, true)), path, `${path}: true`);
      if (TIMES.test(path)) t.equal(faultOf(changed(object, path, 'now')), path, `${path}: now`);
      if (BASE64.test(path)) t.equal(faultOf(changed(object, path, '!')), path, `${path}: !`);
    }
  });

  t.test(`${name}: what a server may leave out or write as null`, async (t) => {
    for (const path of pathsOf(object)) {
      const isListed = /\d$/.test(path);
      const isRequired = REQUIRED.includes(path) || (name.startsWith('cert') && path === 'spec');
      const expected = isRequired && !isListed ? path : '';
      t.equal(faultOf(changed(object, path, undefined)), expected, `without ${path}`);
      const isNullable =
        NULLABLE.includes(path) || (path === 'status.conditions' && /^(api|custom)/.test(name));
      t.equal(faultOf(changed(object, path, null)), isNullable ? '' : path, `${path}: null`);
    }
  });

  t.test(`${name}: unknown fields are kept`, async (t) => {
    const places = ['', 'metadata', 'spec', 'status', 'status.conditions.0'];
    for (const place of places.filter((path) => path === '' || pathsOf(object).includes(path))) {
      const path = place === '' ? 'more' : `${place}.more`;
      const value = changed(object, path, 'kept');
      t.strictSame(schema?.parse(value), value, path);
    }
  });
}

t.test('each resource has its path in the API', async (t) => {
  const paths = Object.values(resources).map((resource) => resourcePath(resource, {}));
  t.strictSame(paths, [
    '/api/v1/nodes',
    '/api/v1/pods',
    '/api/v1/configmaps',
    '/api/v1/secrets',
    '/apis/apps/v1/daemonsets',
    '/apis/coordination.k8s.io/v1/leases',
    '/apis/apiregistration.k8s.io/v1/apiservices',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  ]);
});

t.test('paths name scope, object and subresource, and cannot be escaped', async (t) => {
  const { pods, leases } = resources;
  t.equal(resourcePath(pods, { name: 'a' }), '/api/v1/pods/a');
  t.equal(
    resourcePath(leases, { namespace: 'kube-system', name: 'a', subresource: 'status' }),
    '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a/status',
  );
  t.equal(
    resourcePath(pods, { namespace: '../..', name: 'a?b', subresource: '#' }),
    '/api/v1/namespaces/..%2F../pods/a%3Fb/%23',
  );
});
