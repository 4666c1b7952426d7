import t from 'tap';
import { eventually, leafOf, NAMESPACE, type World } from './world.ts';

const within = `/api/v1/namespaces/${NAMESPACE}`;
const container = { name: 'x', image: 'x' };

/** What makes a pod root on its host, or lets it see other pods. */
const HOST_ACCESS: readonly (readonly [what: string, spec: object])[] = [
  ['hostPath volumes', { volumes: [{ name: 'root', hostPath: { path: '/' } }] }],
  ['host namespaces', { hostNetwork: true }],
  ['host namespaces', { hostPID: true }],
  ['privileged', { containers: [{ ...container, securityContext: { privileged: true } }] }],
  ['hostPort', { containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 1 }] }] }],
  [
    'non-default capabilities',
    { containers: [{ ...container, securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }] },
  ],
];

/** An editor of one namespace, with Kubernetes' own role "edit". */
export function editorAttacks(world: World): void {
  const { api, admin } = world;
  const group = 'rbac.authorization.k8s.io';

  t.test('an editor of a namespace gets no access to the host or to outside traffic', async (t) => {
    const editor = await leafOf('admin', 'editor');
    const binding = {
      metadata: { name: 'editor' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'editor' }],
    };
    const bindings = `/apis/${group}/v1/namespaces/${NAMESPACE}/rolebindings`;
    t.equal((await api({ ...admin, method: 'POST', path: bindings, body: binding })).code, 201);
    const create = (kind: string, body: object) =>
      api({ ...editor, method: 'POST', path: `${within}/${kind}`, body });
    const pod = (name: string, spec: object) =>
      create('pods', { metadata: { name }, spec: { containers: [container], ...spec } });

    await eventually('a pod of an editor', async () => {
      // The controller-manager aggregates the role.
      return (await pod('plain', {})).code === 201 ? true : undefined;
    });
    for (const [index, [what, spec]] of HOST_ACCESS.entries()) {
      const { code, body } = await pod(`attack-${index}`, spec);
      t.equal(code, 403, JSON.stringify(spec));
      t.match(body, 'violates PodSecurity \\"baseline:latest\\"', what);
      t.match(body, what);
    }
    const service = (externalIPs: string[]) =>
      create('services', {
        metadata: { name: 'all' },
        spec: { ports: [{ port: 443 }], externalIPs },
      });
    t.match(await service(['192.0.2.1']), { code: 403, body: /external IPs is denied/i });

    t.equal((await service([])).code, 201, 'a Service of their own');
    const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
    const path = `/api/v1/namespaces/${NAMESPACE}`;
    const body = { metadata: { name: NAMESPACE, labels } };
    const { code } = await api({ ...editor, method: 'PUT', path, body });
    t.equal(code, 403, 'the default is not theirs to change');
  });

  t.test('the token of a pod lives as long as it was requested for', async (t) => {
    // The lifetime by which the API server recognizes a kubelet's request, and extends it.
    const body = { spec: { expirationSeconds: 3607 } };
    const path = `${within}/serviceaccounts/web/token`;
    const { body: answer } = await api({ ...admin, method: 'POST', path, body });
    const { token } = JSON.parse(answer).status;
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    t.equal(claims.exp - claims.iat, 3607);
  });
}
