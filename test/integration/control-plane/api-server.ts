import t from 'tap';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { createSigningKey } from '../../../lib/pki/keys.ts';
import { serviceAccountToken } from './foreign-token.ts';
import { attempt, type Caller } from './request.ts';
import { leafOf, NAMESPACE, renderedLeaf, type World } from './world.ts';

const SECRETS = `/api/v1/namespaces/${NAMESPACE}/secrets`;
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

export function apiServerAttacks(world: World): void {
  t.test('anonymous clients see three health paths', async (t) => {
    const { api } = world;
    for (const path of ['/livez', '/readyz', '/healthz']) {
      t.equal((await api({ path })).code, 200, path);
    }
    for (const path of [
      ...['/metrics', '/version', '/api', '/apis', '/openapi/v3', '/debug/pprof/', '/logs'],
      ...['/livez/etcd', '/configz', SECRETS, '/api/v1/nodes'],
    ]) {
      t.equal((await api({ path })).code, 401, path);
    }
  });

  t.test('a pod has the rights of its account: only to know its own identity', async (t) => {
    const { api, pod } = world;
    const self = await api({ ...pod, method: 'POST', path: REVIEW, body: review });
    t.match(self.body, `system:serviceaccount:${NAMESPACE}:web`);
    for (const path of [
      ...[SECRETS, `${SECRETS}/database`, '/api/v1/secrets', '/api/v1/nodes', '/metrics'],
      ...['/apis/certificates.k8s.io/v1/certificatesigningrequests', '/api/v1/namespaces'],
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    ]) {
      t.equal((await api({ ...pod, path })).code, 403, path);
    }
    const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
    const body = { metadata: { name: 'x' }, spec: { containers: [{ name: 'x', image: 'x' }] } };
    t.equal((await api({ ...pod, method: 'POST', path, body })).code, 403, 'creates no pod');
  });

  t.test('tokens signed with another key, and truncated ones, are not authenticated', async (t) => {
    const { api, pod } = world;
    const { privateKey } = await createSigningKey();
    for (const token of [serviceAccountToken(pod.token, privateKey), pod.token.slice(0, -8)]) {
      t.equal((await api({ token, path: '/version' })).code, 401);
    }
    t.equal((await api({ ...pod, path: '/version' })).code, 200);
  });

  t.test('only certificates of the two client authorities authenticate', async (t) => {
    const { api } = world;
    const organizations = ['system:masters'];
    for (const name of [
      'serving',
      'etcd',
      'kubelet-serving',
      'front-proxy',
      'legacy-unknown',
    ] as const) {
      const certificate = await leafOf(name, 'system:admin', { organizations });
      t.equal((await api({ ...certificate, path: SECRETS })).code, 401, name);
    }
    const server = renderedLeaf('/etc/kubernetes/pki/kube-apiserver/serving');
    t.equal((await api({ ...server, path: '/version' })).code, 401, 'its own serving certificate');
    const foreign = await issueLeaf(await createAuthority('kube-admin-ca'), {
      subject: { commonName: 'system:admin', organizations },
      usage: 'client',
    });
    t.equal((await api({ ...foreign, path: SECRETS })).code, 401, 'an authority of the same name');
    const admin = await leafOf('admin', 'system:admin', { organizations });
    t.equal((await api({ ...admin, path: SECRETS })).code, 200);
  });

  t.test('its clients have the rights that they need, and no others', async (t) => {
    const { api } = world;
    const pki = '/etc/kubernetes/pki';
    const kubeletClient = renderedLeaf(`${pki}/kube-apiserver/kubelet-client`);
    const deferred = renderedLeaf('/etc/sno-agents/deferred');
    for (const client of [kubeletClient, deferred]) {
      for (const path of [SECRETS, '/api/v1/secrets', '/api/v1/configmaps']) {
        t.equal((await api({ ...client, path })).code, 403, path);
      }
    }
    t.equal(await can(kubeletClient, 'create', 'nodes', 'proxy'), true, 'reaches kubelets');
    t.equal(await can(kubeletClient, 'create', 'pods'), false);
    for (const [who, caller] of Object.entries({ pod: world.pod, approver: world.approver })) {
      const resource = 'certificatesigningrequests';
      t.equal(await can(caller, 'create', resource, 'selfnodeclient', certificates), false, who);
      t.equal(await can(caller, 'create', resource, 'nodeclient', certificates), false, who);
    }
    const { node } = world;
    const renewal = ['create', 'certificatesigningrequests'] as const;
    t.equal(await can(node, ...renewal, 'selfnodeclient', certificates), true, 'a node renews');
    t.equal(
      await can(node, ...renewal, 'nodeclient', certificates),
      false,
      'and asks for no other',
    );

    async function can(
      caller: Caller,
      verb: string,
      resource: string,
      subresource = '',
      group = '',
    ): Promise<boolean> {
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const resourceAttributes = { verb, resource, subresource, group };
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      };
      const answer = await api({ ...caller, method: 'POST', path, body });
      t.equal(answer.code, 201, answer.body);
      return JSON.parse(answer.body).status.allowed;
    }
  });

  t.test('a proxy may name users, with the right name from the right authority', async (t) => {
    const { api } = world;
    const name = 'front-proxy-client';
    const headers = { 'X-Remote-User': 'somebody', 'X-Remote-Group': 'system:masters' };
    const proxy = renderedLeaf('/etc/kubernetes/pki/kube-apiserver/front-proxy-client');
    t.equal((await api({ ...proxy, headers, path: SECRETS })).code, 200);
    const otherName = await leafOf('front-proxy', 'another-client');
    t.equal((await api({ ...otherName, headers, path: SECRETS })).code, 401, 'another name');
    const otherAuthority = await leafOf('admin', name);
    t.equal(
      (await api({ ...otherAuthority, headers, path: SECRETS })).code,
      403,
      'another authority',
    );
    const self = await api({
      ...otherAuthority,
      headers,
      method: 'POST',
      path: REVIEW,
      body: review,
    });
    t.match(self.body, `"username":"${name}"`, 'its headers are not read');
    t.equal((await api({ headers, path: SECRETS })).code, 401, 'no certificate');
  });

  t.test('nothing older than TLS 1.2 is accepted', async (t) => {
    const { plane } = world;
    const tls = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    for (const rendered of [6443, 10257, 10259]) {
      const request = { port: plane.port(rendered), path: '/healthz' };
      for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const) {
        const refused = await attempt({ ...request, tls: { ...tls, maxVersion } });
        t.match(refused, /alert protocol version/, `${rendered} ${maxVersion}`);
      }
      t.equal(await attempt({ ...request, tls: { ...tls, maxVersion: 'TLSv1.2' } }), 200);
    }
  });

  t.test('no administrator can profile a component', async (t) => {
    const { plane, admin } = world;
    for (const rendered of [6443, 10257, 10259]) {
      const request = { ...admin, port: plane.port(rendered) };
      t.equal(await attempt({ ...request, path: '/debug/pprof/' }), 404, String(rendered));
      t.equal(await attempt({ ...request, path: '/metrics' }), 200, String(rendered));
    }
  });
}

const certificates = 'certificates.k8s.io';
