/** A way back: the add-ons get their manifests from before, without the database. */
import t, { type Test } from 'tap';
import { addOnsBack } from '../../../../agents/upkeep/update/add-ons-back.ts';
import { concludeUpdate } from '../../../../agents/upkeep/update/conclude.ts';
import type { UpdateContext } from '../../../../agents/upkeep/update/context.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { writeLast } from '../../../../lib/engine/trial/store.ts';
import { addOnManifests } from '../../../../lib/render/kubernetes/addons/index.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input } from '../../render/rendered-host.ts';
import { type ApiAnswer, refuse } from '../host/api.ts';
import { toldToStop } from './told-to-stop.ts';
import { ID, PREPARED, STATE, TRIAL, updating } from './updating-host.ts';

const { authorities: _, ...keyless } = input;
const withImage = (image: string) => ({
  ...keyless,
  host: { ...keyless.host, images: { ...keyless.host.images, coredns: image } },
});
const BEFORE = withImage('r.test/coredns:1');
/** The second has the name of one from before, in another namespace; the third in another API. */
const NEW_OBJECTS = `apiVersion: v1
kind: ConfigMap
metadata: {name: only-new, namespace: kube-system}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: coredns, namespace: names}
---
apiVersion: example.com/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system}
`;
/** The Deployment is the same object in a newer version of its API. */
const changed = addOnManifests(withImage('r.test/coredns:2')).map(({ name, contents }) => ({
  name,
  contents: `${contents.replaceAll('apiVersion: apps/v1\n', 'apiVersion: apps/v2\n')}---\n${NEW_OBJECTS}`,
}));

const KINDS: Readonly<
  Record<string, readonly (readonly [name: string, kind: string, namespaced: boolean])[]>
> = {
  v1: [
    ['serviceaccounts', 'ServiceAccount', true],
    ['configmaps', 'ConfigMap', true],
    ['services', 'Service', true],
  ],
  'apps/v1': [['deployments', 'Deployment', true]],
  'rbac.authorization.k8s.io/v1': [
    ['clusterroles', 'ClusterRole', false],
    ['clusterrolebindings', 'ClusterRoleBinding', false],
  ],
};

async function wentBack(
  t: Test,
  {
    id = ID,
    outcome = 'reverted',
    etcd = 'v3.6.8',
    answers = {},
    readyz = () => ({}),
  }: {
    /** Of the change whose trial was the last. */
    id?: string;
    outcome?: 'reverted' | 'incomplete' | 'confirmed';
    etcd?: string;
    answers?: Readonly<Record<string, ApiAnswer>>;
    readyz?: ApiAnswer;
  } = {},
) {
  const asked: string[] = [];
  const images: string[] = [];
  const given: Record<string, ApiAnswer> = {};
  for (const [version, kinds] of Object.entries(KINDS)) {
    const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
    given[`GET ${root}`] = () => ({
      resources: kinds.map(([name, kind, namespaced]) => ({
        name,
        kind,
        namespaced,
        verbs: ['get'],
      })),
    });
    for (const { path, apply } of objectsAt(root, kinds)) {
      given[`PATCH ${path}`] = ({ body }) => {
        asked.push(`PATCH ${apply}`);
        images.push(...Array.from(body.matchAll(/r\.test\/coredns:\d/g), ([image]) => image));
        return {};
      };
    }
  }
  given['GET /apis/example.com/v1'] = () => ({
    resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['get'] }],
  });
  for (const [root, path] of [
    ['/api/v1', 'kube-system/configmaps/only-new'],
    ['/api/v1', 'names/serviceaccounts/coredns'],
    ['/apis/example.com/v1', 'kube-system/deployments/coredns'],
  ]) {
    given[`DELETE ${root}/namespaces/${path}`] = () => {
      asked.push(`DELETE ${path}`);
      return {};
    };
  }
  const { host, context } = await updating(t, { readyz, answers: { ...given, ...answers } });
  await saveRenderInput(host.paths, BEFORE);
  host.write(`${STATE}/prepared.json`, JSON.stringify({ ...PREPARED, manifests: changed }));
  const ended = {
    schemaVersion: 1,
    id,
    what: 'the update',
    endedAt: '2030-01-03T00:00:00Z',
  } as const;
  const reason = { code: 'deadline', kind: 'deadline', what: 'no rest' } as const;
  await writeLast(host.paths, { ...ended, outcome, reason, problems: [] });
  const request = { ...context.request, before: { kubernetes: 'v1.34.4', etcd } };
  await updateChange.write(host.paths, request);
  const on: UpdateContext = { ...context, request };
  return {
    host,
    context: on,
    asked,
    images,
    run: (signal?: AbortSignal) => addOnsBack.run(on, host.progress(signal)),
  };
}

/** Where the API has the objects of the add-on. */
function objectsAt(root: string, kinds: (typeof KINDS)[string]) {
  const text = addOnManifests(BEFORE)[0]?.contents ?? '';
  return kinds.flatMap(([plural, kind, namespaced]) =>
    text.split(/^---$/m).flatMap((document) => {
      if (!new RegExp(`^kind: ${kind}$`, 'm').test(document)) return [];
      const name = /^ {2}name: (.*)$/m.exec(document)?.[1]?.replaceAll('"', '') ?? '';
      const place = namespaced ? `/namespaces/kube-system/${plural}` : `/${plural}`;
      return [{ path: `${root}${place}/${encodeURIComponent(name)}`, apply: `${plural}/${name}` }];
    }),
  );
}

t.test('objects get their manifests from before, and those that are new are deleted', async (t) => {
  const it = await wentBack(t);
  t.match(await it.run(), { kind: 'done', note: /^\d+ objects put back, 3 deleted$/ });
  t.same([...new Set(it.images)], ['r.test/coredns:1']);
  t.same(it.asked.slice(-3), [
    'DELETE kube-system/deployments/coredns',
    'DELETE names/serviceaccounts/coredns',
    'DELETE kube-system/configmaps/only-new',
  ]);
  t.ok(it.asked.length > 4, it.asked.join(', '));
  await it.run();
  t.same(new Set(it.images).size, 1, 'a second time the same');
});

t.test('the API server is waited for, which has just started', async (t) => {
  let isReady = false;
  const before: string[] = [];
  const it = await wentBack(t, {
    async readyz() {
      await new Promise((resolve) => setTimeout(resolve, 200));
      before.push(...it.asked);
      isReady = true;
      return {};
    },
  });
  await it.run();
  t.ok(isReady);
  t.same(before, []);
});

t.test('only after a way back that leaves the database', async (t) => {
  const partly = await wentBack(t, { outcome: 'incomplete' });
  t.match(await partly.run(), { note: /3 deleted$/ }, 'whatever else could not be put back');
  const stays = await wentBack(t, { outcome: 'confirmed' });
  t.same(await stays.run(), { kind: 'done', note: 'no add-on is to be put back' });
  const other = await wentBack(t, { id: '11111111-1111-4111-8111-111111111111' });
  t.same(await other.run(), { kind: 'done', note: 'no add-on is to be put back' });
  const restored = await wentBack(t, { etcd: 'v3.5.21' });
  t.match(await restored.run(), { note: /the database goes back/ });
  t.same([...stays.asked, ...other.asked, ...restored.asked], []);
  const goesBack = await wentBack(t);
  goesBack.host.write(
    TRIAL,
    JSON.stringify({
      schemaVersion: 1,
      id: ID,
      what: 'the update',
      armedAt: '2030-01-02T00:00:00Z',
      deadlineMs: 1000,
      bootsCount: 1,
      boots: [{ boot: 'b', up: 1 }],
      points: { network: { files: [], folders: [] }, files: [], moved: [] },
      reverting: { code: 'deadline', kind: 'deadline', what: 'no rest' },
      problems: [],
    }),
  );
  t.same(await goesBack.run(), { kind: 'not-yet', reason: 'the host restarts to go back' });
});

t.test('told to stop at any request, nothing more is put back', async (t) => {
  for (const name of [
    'PATCH /api/v1/namespaces/kube-system/serviceaccounts/coredns',
    'DELETE /api/v1/namespaces/kube-system/configmaps/only-new',
  ]) {
    await toldToStop(t, name, async (silent, signal) =>
      (await wentBack(t, { answers: { [name]: silent } })).run(signal),
    );
  }
});

t.test(
  'an add-on that could not be put back is said with the reason of the way back',
  async (t) => {
    const it = await wentBack(t, { answers: { 'GET /apis/apps/v1': () => refuse(403) } });
    await t.rejects(it.run());
    await addOnsBack.instead?.(it.context, new Failure('deadline', 'the API refused it'));
    await t.rejects(concludeUpdate.run(it.context, it.host.progress()), {
      code: 'update-reverted',
      message:
        /was taken back.*no rest.*except for its add-ons \(the API refused it.*sno-backup list/,
      details: { parts: [{ what: 'no rest' }, { what: 'the API refused it' }] },
    });
  },
);
