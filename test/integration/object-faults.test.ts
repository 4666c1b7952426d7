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
async function refusalOf({ path, apiVersion, kind }: Served, metadata: object): Promise<string> {
  try {
    const body = { apiVersion, kind, metadata };
    await client.json({ method: 'POST', path: `${path}?dryRun=All`, body }, limits);
    return '';
  } catch (error) {
    if (!isKubeError(error, 'rejected')) throw error;
    return error.message;
  }
}

function given({ apiVersion, kind }: Served, name: string, more: object = {}): Manifest {
  const object = { apiVersion, kind, metadata: { name, ...more } };
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

t.test('labels and annotations', async (t) => {
  const configMap = kinds.find(({ kind }) => kind === 'ConfigMap');
  if (configMap === undefined) throw new Error('no ConfigMap');
  const cases = [
    ...KEYS.flatMap((key) => [{ labels: { [key]: 'a' } }, { annotations: { [key]: 'a b/ä' } }]),
    ...VALUES.map((value) => ({ labels: { a: value } })),
  ];
  for (const metadata of cases) {
    const said = await refusalOf(configMap, { name: 'a', ...metadata });
    const fault = objectFault(given(configMap, 'a', metadata));
    t.equal(fault !== undefined, said !== '', JSON.stringify(metadata), { fault, said });
  }
});
