import t, { type Test } from 'tap';
import { rotateContext } from '../../../../agents/node/rotate/context.ts';
import { type What, writeRequest } from '../../../../agents/node/rotate/request.ts';
import { restartWorkloads } from '../../../../agents/node/rotate/workloads.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { trust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { authorities, textAt } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { apiOf, earlierAuthority, podOf } from './earlier-authority.ts';

const BOTH = 'both authorities\n';
const ROOT_CA = 'GET /api/v1/namespaces/shop/configmaps/kube-root-ca.crt';
const POD = 'DELETE /api/v1/namespaces/shop/pods';
const ANSWERS = {
  'GET /api/v1/pods': listOf(
    podOf('web', 'kube-root-ca.crt', [{ controller: true }]),
    podOf('alone', 'kube-root-ca.crt'),
    podOf('batch', 'settings', [{ controller: true }]),
  ),
  [ROOT_CA]: { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': BOTH } },
  [`${POD}/web`]: {},
};

async function rotating(t: Test, what: What, serving: KeyPair) {
  const host = testHost(t);
  const { url, requests } = await apiOf(t, serving, ANSWERS);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write(authorityPaths('serving').certificate, serving.certificate);
  const admin = authorityPaths('admin');
  for (const path of [admin.certificate, admin.key]) host.write(path, textAt(path));
  host.write(trust.api, BOTH);
  await writeRequest(host.paths, { what, restartWorkloads: true });
  const context = await rotateContext(host.paths);
  const paths = hostPaths(host.root, { api: url });
  return { host, requests, context: { ...context, paths } };
}

const serving: What = { kind: 'authorities', names: ['serving'] };

t.test('pods that know only a CA without successor are deleted', async (t) => {
  const { host, requests, context } = await rotating(t, serving, await earlierAuthority());
  const outcome = await restartWorkloads.run(context, host.progress());
  t.same(outcome, { kind: 'done', note: 'deleted shop/web' });
  t.same(requests, ['GET /api/v1/pods', ROOT_CA, `${POD}/web`], 'once both are published');
  t.match(host.lines.join(''), /shop\/alone has no controller: restart it yourself/);
});

t.test('no pod is deleted where the old CA can sign the new one, or for another CA', async (t) => {
  const table: [what: What, serving: KeyPair][] = [
    [serving, authorities.servingCa],
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
