/** Kinds, names, labels and annotations that the laptop refuses, compared with what a real API server says of each. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { folderFaults } from '../../cli/create/folder-faults.ts';
import { objectFault } from '../../cli/create/object-faults.ts';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { builtInKinds } from '../../lib/clients/kube/built-in-kinds.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { decodeManifests, type Manifest } from '../../lib/clients/kube/manifest-decoding.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 60_000 };
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());

const groupList = z.looseObject({
  groups: z.array(
    z.looseObject({ versions: z.array(z.looseObject({ groupVersion: z.string() })) }),
  ),
});
const resourceList = z.looseObject({
  resources: z.array(
    z.looseObject({
      ...{ name: z.string(), kind: z.string(), namespaced: z.boolean() },
      verbs: z.array(z.string()),
    }),
  ),
});

interface Served {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly path: string;
}

/** Every kind that can be created, in every version. Those that cannot be read are questions, which nothing stores. */
async function servedKinds(): Promise<(Served & { readonly isStored: boolean })[]> {
  const groups = groupList.parse(
    await client.json({ method: 'GET', path: '/apis' }, limits),
  ).groups;
  const others = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
  const lists = await Promise.all(
    ['v1', ...others].map(async (apiVersion) => {
      const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
      const list = resourceList.parse(await client.json({ method: 'GET', path: root }, limits));
      return list.resources
        .filter(({ name, verbs }) => verbs.includes('create') && !name.includes('/'))
        .map(({ name, kind, namespaced, verbs }) => ({
          ...{ apiVersion, kind, isNamespaced: namespaced, isStored: verbs.includes('get') },
          path: `${root}${namespaced ? '/namespaces/default' : ''}/${name}`,
        }));
    }),
  );
  return lists.flat();
}

/** What the API says of an object, which it does not store: a sentence of all faults, if it has any. */
async function refusalOf(served: Served, metadata: object, fields: object = {}): Promise<string> {
  const { path, apiVersion, kind } = served;
  try {
    const body = { apiVersion, kind, metadata, ...fields };
    await client.json({ method: 'POST', path: `${path}?dryRun=All`, body }, limits);
    return '';
  } catch (error) {
    if (!isKubeError(error, 'rejected')) throw error;
    return error.message;
  }
}

function given(
  { apiVersion, kind }: Served,
  name: string,
  more: object = {},
  fields: object = {},
): Manifest {
  const object = { apiVersion, kind, metadata: { name, ...more }, ...fields };
  const [manifest] = decodeManifests('a.yaml', JSON.stringify(object)).manifests;
  if (manifest === undefined) throw new Error(`no manifest: ${JSON.stringify(object)}`);
  return manifest;
}

const all = await servedKinds();
const kinds = all.filter(({ isStored }) => isStored);

t.test('every kind that is served has its home, and its scope', async (t) => {
  t.ok(kinds.length > 60, `${kinds.length} kinds`);
  for (const served of all) {
    const id = `${served.apiVersion} ${served.kind}`;
    t.notMatch(objectFault(given(served, 'a')) ?? '', /^(?:kind|apiVersion): /, id);
    const placed = given(served, 'a', { namespace: 'nowhere' });
    t.equal(folderFaults([placed]).length > 0, served.isNamespaced, `${id} has a namespace`);
  }
  const idOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
    `${apiVersion} ${kind}`;
  t.strictSame(builtInKinds.map(idOf).toSorted(), all.map(idOf).toSorted(), 'no other is served');
});

const NAMES = [
  ...['a', '1a', 'a.b', 'a-b', 'A', 'my_name', 'My-Name', 'a:b', '-a', 'a-', 'a.', '.a', 'a..b'],
  ...[
    'a b',
    'a@b',
    'ä',
    'a'.repeat(52),
    'a'.repeat(53),
    'a'.repeat(63),
    'a'.repeat(64),
    'a'.repeat(253),
    'a'.repeat(254),
  ],
  ...['10.0.0.1', '2001-db8--', 'system:x', 'a/b', 'a%b', '..'],
];
/** The API says it of these when nothing else is wrong. */
const NO_PARTS_OF_PATHS = /[/%]|^\.\.$/;
/** What these are called has to do with what they are, or the API asks for less than a domain. */
const MORE_THAN_A_NAME = [
  ...['APIService', 'ClusterTrustBundle', 'CustomResourceDefinition', 'Event', 'IPAddress'],
  'PodCertificateRequest',
];

t.test('names', async (t) => {
  let judged = 0;
  for (const served of kinds) {
    const compared = await Promise.all(NAMES.map((name) => compareName(t, served, name)));
    judged += compared.filter(Boolean).length;
  }
  t.ok(judged > kinds.length * 10, `${judged} names`);
});

/** Whether the API said something of the name: of some kinds, it tells first what is missing. */
async function compareName(t: Test, served: Served, name: string): Promise<boolean> {
  const said = await refusalOf(served, { name });
  const isRefused = /metadata\.name: /.test(said);
  const isJudged = isRefused || said === '' || /is invalid: /.test(said);
  if (!isJudged || (!isRefused && said !== '' && NO_PARTS_OF_PATHS.test(name))) return false;
  const found = objectFault(given(served, name));
  const fault = found?.startsWith('metadata.name: ') ? found : undefined;
  const id = `${served.apiVersion} ${served.kind} ${name.slice(0, 20)}`;
  if (fault !== undefined && !isRefused) t.fail(`${id} is right`, { fault, said });
  if (fault === undefined && isRefused) {
    t.ok(MORE_THAN_A_NAME.includes(served.kind), `${id} is refused`, { said });
  }
  return true;
}

const KEYS = [
  ...['a', 'A', 'a.b', 'a_b', 'a-b', '-a', 'a-', 'a b', 'a/b', 'A/b', 'a.b/c', 'a_b/c', 'a/b/c'],
  ...[
    '/a',
    'a/',
    '',
    'a'.repeat(63),
    'a'.repeat(64),
    `${'a'.repeat(253)}/b`,
    `${'a'.repeat(254)}/b`,
  ],
  ...['ä', 'a:b', 'a.', '.a', 'example.com./a', 'example..com/a'],
];
const VALUES = [
  ...['', 'a', 'A', 'a.b', 'a_b', '-a', 'a-', 'a b', 'a/b', 'a:b', 'a@b', 'ä', '1', 'a\n'],
  ...['a'.repeat(63), 'a'.repeat(64)],
];

function served(kind: string): Served {
  const found = kinds.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

/** Whether the laptop says something of the object exactly if the API does. */
async function compare(t: Test, kind: string, metadata: object, fields: object = {}) {
  const said = await refusalOf(served(kind), { name: 'a', ...metadata }, fields);
  const fault = objectFault(given(served(kind), 'a', metadata, fields));
  const id = `${kind} ${JSON.stringify({ ...metadata, ...fields }).slice(0, 200)}`;
  t.equal(fault !== undefined, said !== '', id, { fault, said });
}

const LABELLED = [
  ...KEYS.flatMap((key) => [{ labels: { [key]: 'a' } }, { annotations: { [key]: 'a b/ä' } }]),
  ...VALUES.map((value) => ({ labels: { a: value } })),
];

t.test('labels and annotations', async (t) => {
  for (const metadata of LABELLED) await compare(t, 'ConfigMap', metadata);
});

t.test('labels and annotations of pods that others make', async (t) => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] };
  const always = { ...spec, restartPolicy: 'Always' };
  for (const { labels = {}, annotations = {} } of LABELLED.map(
    (each): { labels?: object; annotations?: object } => each,
  )) {
    const metadata = { labels: { ...labels, own: 'x' }, annotations };
    const template = { metadata, spec: always };
    const job = { spec: { template: { metadata, spec } } };
    await compare(
      t,
      'Deployment',
      {},
      { spec: { selector: { matchLabels: { own: 'x' } }, template } },
    );
    await compare(t, 'ReplicationController', {}, { spec: { selector: { own: 'x' }, template } });
    await compare(t, 'PodTemplate', {}, { template });
    await compare(t, 'Job', {}, job);
    await compare(t, 'CronJob', {}, { spec: { schedule: '0 0 * * *', jobTemplate: job } });
  }
});

t.test('keys of data', async (t) => {
  for (const key of [...KEYS, '.', '..', '..a', '...', '.a', 'a..b', 'a'.repeat(253), 'a\n']) {
    await compare(t, 'ConfigMap', {}, { data: { [key]: '' } });
    await compare(t, 'ConfigMap', {}, { binaryData: { [key]: '' } });
    await compare(t, 'Secret', {}, { data: { [key]: '' } });
    await compare(t, 'Secret', {}, { stringData: { [key]: '' } });
  }
});

const TYPES = [
  ...['Opaque', 'kubernetes.io/tls', 'kubernetes.io/ssh-auth', 'kubernetes.io/basic-auth'],
  ...['kubernetes.io/dockercfg', 'kubernetes.io/dockerconfigjson', 'example.com/own'],
  ...['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token'],
];
const CONFIGS = ['', '{}', ' {"auths": {}} ', '{"a": 1', '[]', 'null', '1', '"a"', '\ufeff{}'];

t.test('types of Secrets', async (t) => {
  const contents = [
    ...['tls.crt', 'tls.key', 'username', 'password', 'ssh-privatekey'].flatMap((key) => [
      { [key]: '' },
      { [key]: 'x' },
    ]),
    ...[{}, { 'tls.crt': '', 'tls.key': '' }],
    ...CONFIGS.flatMap((text) => [{ '.dockercfg': text }, { '.dockerconfigjson': text }]),
  ];
  for (const type of TYPES) {
    for (const stringData of contents) {
      const data = Object.fromEntries(
        Object.entries(stringData).map(([key, text]) => [
          key,
          Buffer.from(text).toString('base64'),
        ]),
      );
      await compare(t, 'Secret', {}, { type, stringData });
      await compare(t, 'Secret', {}, { type, data });
    }
    for (const name of ['', 'default']) {
      const annotations = { 'kubernetes.io/service-account.name': name };
      await compare(t, 'Secret', { annotations }, { type });
    }
  }
});
