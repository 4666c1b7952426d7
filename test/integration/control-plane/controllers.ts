import t from 'tap';
import { rendered, textAt } from '../../unit/render/rendered-host.ts';
import { attempt } from './request.ts';
import { eventually, leafOf, NAMESPACE, renderedLeaf, type World } from './world.ts';

const PORTS = { 'kube-controller-manager': 10257, 'kube-scheduler': 10259 };

export function controllerAttacks(world: World): void {
  t.test(
    'the leaders hold the Leases that are deleted when they stop, and no others',
    async (t) => {
      const { api, admin } = world;
      const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
      const held = await eventually('both Leases', async () => {
        const { items } = JSON.parse((await api({ ...admin, path })).body);
        const names: string[] = items.map(
          ({ metadata }: { metadata: { name: string } }) => metadata.name,
        );
        const leaders = names.filter((name) => !name.startsWith('apiserver-'));
        return leaders.length >= rendered.leases.length ? leaders : undefined;
      });
      t.same(held.toSorted(), rendered.leases.map(({ name }) => name).toSorted());
      t.ok(rendered.leases.every(({ namespace }) => namespace === 'kube-system'));
    },
  );

  t.test("pods are given the authority of the API server's certificate", async (t) => {
    const { api, admin } = world;
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/kube-root-ca.crt`;
    const bundle = await eventually('kube-root-ca.crt', async () => {
      const { code, body } = await api({ ...admin, path });
      return code === 200 ? JSON.parse(body).data['ca.crt'] : undefined;
    });
    t.equal(bundle, textAt('/etc/kubernetes/pki/ca/serving/ca.crt'));
  });

  for (const [component, port] of Object.entries(PORTS)) {
    t.test(`${component} answers only clients authorized by the API server`, async (t) => {
      const { plane, admin, pod, node } = world;
      const request = { port: plane.port(port), path: '/metrics' };
      t.equal(await attempt({ ...request, path: '/healthz' }), 200, 'health, of anybody');
      t.equal(await attempt(request), 403, 'nobody');
      t.equal(await attempt({ ...request, ...pod }), 403, 'a pod');
      t.equal(await attempt({ ...request, ...node }), 403, 'a node');
      t.equal(await attempt({ ...request, ...admin }), 200, 'an administrator');
      const organizations = ['system:masters'];
      for (const authority of ['serving', 'kubelet-serving', 'etcd'] as const) {
        const foreign = await leafOf(authority, 'system:admin', { organizations });
        t.match(await attempt({ ...request, ...foreign }), 401, authority);
      }
      const headers = { 'X-Remote-User': 'somebody', 'X-Remote-Group': 'system:masters' };
      const proxy = renderedLeaf('/etc/kubernetes/pki/kube-apiserver/front-proxy-client');
      t.equal(await attempt({ ...request, ...proxy, headers }), 200, 'the API server as a proxy');
      const otherName = await leafOf('front-proxy', 'another-client');
      t.equal(await attempt({ ...request, ...otherName, headers }), 401, 'another name');
      const otherAuthority = await leafOf('admin', 'front-proxy-client');
      t.equal(await attempt({ ...request, ...otherAuthority, headers }), 403, 'another authority');
    });
  }
}
