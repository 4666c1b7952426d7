import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { applyAllManifests } from '../../../../agents/steps/manifests.ts';
import { resourcePath } from '../../../../lib/clients/kube/resources.ts';
import { roleDependents } from '../../../../lib/clients/rights/deferred.ts';
import { type RenderedIdentity, saveRendered } from '../../../../lib/render/store.ts';
import { type ApiAnswer, fakeApi, listOf, refuse, warn } from '../host/api.ts';
import { testHost } from '../host/host.ts';

const rendered = {
  directories: [],
  files: [],
  staticPods: [],
  leases: [],
  manifests: [{ name: '10-now.yaml', contents: 'kind: Namespace\n' }],
};

const identity: RenderedIdentity = { hostname: 'sno', nodeIps: ['192.0.2.10'] };

t.test('manifests rendered by an earlier attempt are removed', async (t) => {
  const host = testHost(t);
  const folder = '/opt/openshift/rendered-manifests';
  host.write(`${folder}/00-earlier.yaml`, 'kind: ConfigMap\n');
  await saveRendered(host.paths, 'input', identity, rendered);
  // There is no API here: the test checks what would have been applied.
  await t.rejects(host.run(applyAllManifests));
  t.same(readdirSync(host.at(folder)), ['10-now.yaml']);
});

const till = '{"apiVersion":"e.com/v1","kind":"Till","metadata":{"name":"a"}}';
const MAPS = '/api/v1/namespaces/default/configmaps';
const DEFERRED_ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/sno-agents%3Adeferred';
const DEFERRED = '/etc/sno-agents/deferred/0001.till.a.json';
const map = (name: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } });

/** A live host with a rendered manifest and a user's manifest, and an API with these answers. */
async function host(t: Test, create: ApiAnswer, more: Record<string, ApiAnswer> = {}) {
  const it = testHost(t);
  const now = [{ name: '10-now.yaml', contents: map('ours') }];
  await saveRendered(it.paths, 'input', identity, { ...rendered, manifests: now });
  it.write('/opt/openshift/openshift/99-users.yaml', map('theirs'));
  it.write('/opt/openshift/manifests/50-users.yaml', map('mine'));
  const resource = { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['create'] };
  const { requests } = await fakeApi(t, it, {
    'GET /api/v1': () => ({ resources: [resource] }),
    'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions': () => listOf(),
    'GET /apis/apiregistration.k8s.io/v1/apiservices': () => listOf(),
    [`POST ${MAPS}`]: create,
    ...more,
  });
  return { it, requests };
}

const nameIn = (body: string): string => JSON.parse(body).metadata.name;

t.test('every manifest is created, existing objects are left unchanged', async (t) => {
  const created: string[] = [];
  const create: ApiAnswer = ({ body }) => {
    const name = nameIn(body);
    if (name === 'mine') return refuse(409, 'it exists', 'AlreadyExists');
    created.push(name);
    return JSON.parse(body);
  };
  const { it, requests } = await host(t, create, {
    [`GET ${MAPS}/mine`]: () => JSON.parse(map('mine')),
  });
  t.same(await it.run(applyAllManifests), { kind: 'done', note: '2 created, 1 existed' });
  t.same(created.toSorted(), ['ours', 'theirs']);
  t.notOk(requests.some((each) => /^(PUT|PATCH|DELETE)/.test(each)));
  t.equal(it.mode('/opt/openshift/rendered-manifests/10-now.yaml'), 0o600, 'some are secrets');
  t.equal(await it.holds(applyAllManifests), true);
});

t.test('a rejected one ends the installation, and is named', async (t) => {
  const { it, requests } = await host(
    t,
    ({ body }) => (nameIn(body) === 'theirs' ? refuse(422, 'no such colour') : JSON.parse(body)),
    { [`GET ${MAPS}/theirs`]: () => refuse(404) },
  );
  it.write(DEFERRED, till);
  const failure = await applyAllManifests
    .run(it.context, it.progress())
    .catch((error: unknown) => error);
  t.match(failure, {
    kind: 'fatal',
    code: 'manifests-rejected',
    message: /1 of 3 manifests could not be applied.*99-users\.yaml: .*no such colour/,
    details: {
      parts: [
        {
          kind: 'fatal',
          code: 'manifest-rejected',
          what: /99-users\.yaml: .*no such colour/,
          details: { subject: /99-users\.yaml$/ },
        },
      ],
    },
  });
  const logged = it.lines.join('');
  t.match(logged, /99-users\.yaml.*rejected.*no such colour/, 'a line of the table');
  t.notMatch(logged, /10-now\.yaml/, 'only what was not applied');
  t.notOk(requests.includes(`GET ${DEFERRED_ROLE}`), 'no rights are tied before all is applied');
});

t.test(
  'unknown fields are an error in what people wrote, and a warning in what was rendered',
  async (t) => {
    const asked: Record<string, string | null> = {};
    const { it } = await host(t, ({ body, query }) => {
      asked[nameIn(body)] = query.get('fieldValidation');
      return nameIn(body) === 'ours'
        ? warn(JSON.parse(body), 'unknown field "dta"')
        : JSON.parse(body);
    });
    t.same(await it.run(applyAllManifests), { kind: 'done', note: '3 created, 0 existed' });
    t.same(asked, { ours: 'Warn', theirs: 'Strict', mine: 'Strict' });
    const logged = it.lines.join('');
    t.match(
      logged,
      /10-now\.yaml:1 .* created .*warning: unknown field \\?"dta/,
      'a line of the table',
    );
    t.notMatch(logged, /50-users\.yaml/);
  },
);

t.test('waits for kinds that are not served yet', async (t) => {
  const { it } = await host(t, ({ body }) => JSON.parse(body), {
    'GET /api/v1': () => ({ resources: [] }),
  });
  t.ok(
    await it.waitsFor(
      applyAllManifests,
      /Waiting for 0 of 3 manifests processed.*serves no ConfigMap/,
    ),
    it.lines.join(''),
  );
});

t.test('deferred manifests are counted, and their rights end with their role', async (t) => {
  const patched: string[] = [];
  const { it, requests } = await host(t, ({ body }) => JSON.parse(body), {
    [`GET ${DEFERRED_ROLE}`]: () => ({
      metadata: { name: 'sno-agents:deferred', uid: 'uid-of-role' },
    }),
    ...Object.fromEntries(
      roleDependents.map(({ place, ...dependent }) => [
        `PATCH ${resourcePath(dependent, place)}`,
        ({ body }: { body: string }) => {
          patched.push(JSON.parse(body).metadata.ownerReferences[0].uid);
          return {};
        },
      ]),
    ),
  });
  it.write(DEFERRED, till);
  t.same(await it.run(applyAllManifests), {
    kind: 'done',
    note: '3 created, 0 existed, 1 deferred',
  });
  t.ok(patched.length > 0);
  t.same(new Set(patched), new Set(['uid-of-role']));
  t.ok(
    requests.lastIndexOf(`POST ${MAPS}`) < requests.indexOf(`GET ${DEFERRED_ROLE}`),
    'after all is created',
  );
});
