/** sno-deferred on OpenShift: an administrator acts for its user, and no key of it exists. */
import t, { type Test } from 'tap';
import { applyDeferred } from '../../../../agents/deferred/apply-deferred.ts';
import { retireDeferred } from '../../../../agents/deferred/retire-deferred.ts';
import { type ApiAnswer, deferredIdentity, listOf, refuse } from '../host/api.ts';
import { openShiftApi, openShiftHost } from '../post-reboot/openshift/cluster-objects.ts';

const TILL = '/etc/sno-agents/deferred/5000.till.a.json';
const STATUS = '/api/v1/namespaces/kube-system/configmaps/sno-deferred';
const UNIT = '/etc/systemd/system/sno-deferred.service';
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/sno-agents%3Adeferred';
const till = { apiVersion: 'e.com/v1', kind: 'Till', metadata: { name: 'a' } };

async function host(t: Test, answers: Readonly<Record<string, ApiAnswer>>) {
  const it = openShiftHost(t);
  it.write(TILL, JSON.stringify(till), 0o600);
  it.write(UNIT);
  it.write('/var/lib/sno-agents/sno-deferred/journal.jsonl');
  it.programs.give('systemctl', 'case "$1" in disable | daemon-reload) ;; *) exit 97 ;; esac');
  const requests = await openShiftApi(t, it, answers);
  const context = { ...it.context, expires: new Date(Date.now() + 3_600_000) };
  return { it, requests, context };
}

t.test('it applies with the rights of its user only', async (t) => {
  const users: unknown[] = [];
  const data: { status?: string } = {};
  const asUser =
    (answer: ApiAnswer): ApiAnswer =>
    (request) => {
      users.push(request.headers['impersonate-user']);
      return answer(request);
    };
  const status = { metadata: { name: 'sno-deferred', resourceVersion: '1' }, data: {} };
  const resource = { name: 'tills', kind: 'Till', namespaced: false, verbs: ['list', 'create'] };
  const { it, context } = await host(t, {
    'GET /readyz': () => ({}),
    'GET /apis/e.com/v1': () => ({ resources: [resource] }),
    'POST /apis/e.com/v1/tills': asUser(() => till),
    'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions': asUser(() => listOf()),
    'GET /apis/apiregistration.k8s.io/v1/apiservices': asUser(() => listOf()),
    [`GET ${STATUS}`]: () => status,
    [`PUT ${STATUS}`]: asUser(({ body }) => {
      data.status = body;
      return status;
    }),
  });
  t.match(await applyDeferred.run(context, it.progress()), { kind: 'done', note: '1 applied' });
  t.same([...new Set(users)], ['sno-agents:deferred']);
  t.match(data.status, /"5000\.till\.a":"applied/);
});

t.test('it ends by deleting its rights, also when they are gone already', async (t) => {
  for (const answer of [() => ({}), () => refuse(403)]) {
    const { it, requests, context } = await host(t, { [`DELETE ${ROLE}`]: answer });
    // No file of it on OpenShift: one of that name is somebody else's.
    it.write(deferredIdentity.key, 'of somebody else');
    t.same(await retireDeferred.run(context, it.progress()), { kind: 'done' });
    t.same(requests, [`DELETE ${ROLE}`]);
    t.notOk(it.has(UNIT));
    t.notOk(it.has(TILL));
    t.equal(it.read(deferredIdentity.key), 'of somebody else');
  }
});

t.test('without a kubeconfig of the operator it tries again', async (t) => {
  const it = openShiftHost(t);
  it.write(TILL, JSON.stringify(till), 0o600);
  const context = { ...it.context, expires: new Date(Date.now() + 3_600_000) };
  await t.rejects(applyDeferred.run(context, it.progress()), {
    kind: 'retry',
    message: /no kubeconfig for the API server/,
  });
});
