import t, { type Test } from 'tap';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { restartWorkloads } from '../../../../agents/upkeep/rotate/workloads.ts';
import { requestRotation, type What } from '../../../../lib/change/rotation/request.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { controllerManagerTrust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { servingPair, textAt } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { apiOf, earlierAuthority, podOf } from './earlier-authority.ts';

const BOTH = 'both authorities\n';
const ROOT_CAS = '/api/v1/configmaps';
const POD = 'DELETE /api/v1/namespaces/shop/pods';
const rootCa = (namespace: string, pem: string) => ({
  metadata: { name: 'kube-root-ca.crt', namespace },
  data: { 'ca.crt': pem },
});
const ANSWERS = {
  'GET /api/v1/pods': listOf(
    podOf('web', 'kube-root-ca.crt', [{ controller: true }]),
    podOf('gone', 'kube-root-ca.crt', [{ controller: true }]),
    podOf('alone', 'kube-root-ca.crt'),
    podOf('owned', 'kube-root-ca.crt', [{ kind: 'Node' }]),
    podOf('batch', 'settings', [{ controller: true }]),
    ...[
      undefined,
      [{ emptyDir: {} }],
      [{ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
    ].map((volumes, at) => ({ ...podOf(`other-${at}`, ''), spec: { volumes } })),
    podOf('job', 'kube-root-ca.crt', [{ controller: true }], { status: { phase: 'Succeeded' } }),
    podOf('crashed', 'kube-root-ca.crt', [{ controller: true }], { status: { phase: 'Failed' } }),
    podOf('leaving', 'kube-root-ca.crt', [{ controller: true }], {
      deletionTimestamp: '2030-01-01T00:00:00Z',
    }),
  ),
  [`GET ${ROOT_CAS}`]: listOf(rootCa('shop', 'old\n'), rootCa('ending', 'old\n')),
  [`WATCH ${ROOT_CAS}`]: [
    { type: 'MODIFIED', object: rootCa('shop', BOTH) },
    // Its namespace is being deleted: nobody publishes there any more.
    { type: 'DELETED', object: rootCa('ending', 'old\n') },
  ],
  [`${POD}/web`]: {},
};

async function rotating(t: Test, what: What, serving: KeyPair) {
  const host = testHost(t);
  const { url, requests, selectors } = await apiOf(t, serving, ANSWERS);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write(authorityPaths('serving').certificate, serving.certificate);
  const admin = authorityPaths('admin');
  for (const path of [admin.certificate, admin.key]) host.write(path, textAt(path));
  host.write(controllerManagerTrust.api, BOTH);
  await requestRotation(host.paths, { what, restartWorkloads: true });
  return {
    host,
    requests,
    selectors,
    context: await rotateContext(hostPaths(host.root, { api: url })),
  };
}

const serving: What = { kind: 'authorities', names: ['serving'] };

t.test('pods that know only a CA without successor are deleted', async (t) => {
  const { host, requests, selectors, context } = await rotating(
    t,
    serving,
    await earlierAuthority(),
  );
  const outcome = await restartWorkloads.run(context, host.progress());
  t.same(outcome, { kind: 'done', note: 'deleted shop/web' });
  const expected = [`GET ${ROOT_CAS}`, `WATCH ${ROOT_CAS}`, 'GET /api/v1/pods'];
  const deleted = [`${POD}/web`, `${POD}/gone`];
  t.same(requests, [...expected, ...deleted], 'once both are published');
  t.same([...selectors], [`${ROOT_CAS} metadata.name=kube-root-ca.crt`]);
  for (const name of ['alone', 'owned'])
    t.match(host.lines.join(''), `shop/${name} has no controller: restart it yourself`);
});

t.test('no pod is deleted where the old CA can sign the new one, or for another CA', async (t) => {
  const table: [what: What, serving: KeyPair][] = [
    [serving, servingPair],
    [{ kind: 'authorities', names: ['etcd'] }, await earlierAuthority()],
    [{ kind: 'encryption' }, await earlierAuthority()],
  ];
  for (const [what, ca] of table) {
    const { host, requests, context } = await rotating(t, what, ca);
    const outcome = await restartWorkloads.run(context, host.progress());
    t.same(outcome, { kind: 'done', note: 'not needed' });
    t.same(requests, []);
  }
});
