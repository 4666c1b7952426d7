import t from 'tap';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { requestPem } from '../../unit/cluster/csr/requests.ts';
import { textAt } from '../../unit/render/rendered-host.ts';
import type { Caller } from './request.ts';
import { eventually, leafOf, NAMESPACE, NODE, OTHER_NODE, type World } from './world.ts';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/database`;

export function nodeAttacks(world: World): void {
  t.test('a node can only act as itself', async (t) => {
    const { api, node, otherNode } = world;
    const create = (caller: Caller, name: string, labels = {}) =>
      api({
        ...caller,
        method: 'POST',
        path: '/api/v1/nodes',
        body: { metadata: { name, labels } },
      });
    t.match(await create(node, OTHER_NODE), { code: 403, body: /not allowed to modify node/ });
    t.match(
      await create(node, NODE, { 'node-restriction.kubernetes.io/zone': 'vault' }),
      { code: 403, body: /is not allowed to (set|modify)/ },
      'it does not place itself among protected ones',
    );
    t.equal((await create(node, NODE)).code, 201);
    t.equal((await create(otherNode, OTHER_NODE)).code, 201);
    t.equal((await api({ ...node, path: `/api/v1/nodes/${NODE}` })).code, 200, 'reads itself');
    const body = { metadata: { labels: { zone: 'mine' } } };
    const patch = (caller: Caller) =>
      api({ ...caller, method: 'PATCH', path: `/api/v1/nodes/${NODE}`, body });
    t.equal((await patch(otherNode)).code, 403);
    t.equal((await patch(node)).code, 200);
  });

  t.test('a node can read the Secrets of its own pods, and no others', async (t) => {
    const { api, node, otherNode, admin } = world;
    t.equal((await api({ ...node, path: SECRET })).code, 403, 'no pod of it uses the Secret');
    await eventually('the default service account', async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`;
      return (await api({ ...admin, path })).code === 200 ? true : undefined;
    });
    const env = [{ name: 'P', valueFrom: { secretKeyRef: { name: 'database', key: 'password' } } }];
    const body = {
      metadata: { name: 'web' },
      spec: { nodeName: NODE, containers: [{ name: 'web', image: 'example.test/web:1', env }] },
    };
    const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
    t.equal((await api({ ...admin, method: 'POST', path, body })).code, 201);
    await eventually('the right to read it', async () =>
      (await api({ ...node, path: SECRET })).code === 200 ? true : undefined,
    );
    t.equal((await api({ ...otherNode, path: SECRET })).code, 403, 'another node');
    for (const all of ['/api/v1/secrets', `/api/v1/namespaces/${NAMESPACE}/secrets`]) {
      t.equal((await api({ ...node, path: all })).code, 403, all);
    }
  });

  t.test(
    'a node can renew its own certificate, from the authority of nodes, for a year',
    async (t) => {
      const { node } = world;
      t.equal(await submit(node, 'renewal', CLIENT, NODE), 201);
      const pem = await issued('renewal');
      t.ok(await isIssuedBy(pem, textAt(authorityPaths('kubelet-client').certificate)));
      const { notBefore, notAfter, subject } = inspectCertificate(pem);
      t.equal(subject.commonName, `system:node:${NODE}`);
      const days = (notAfter.getTime() - notBefore.getTime()) / 86_400_000;
      t.ok(days > 300 && days < 370, `valid for ${days} days`);
    },
  );

  t.test('nobody gets the name of a node by requesting it', async (t) => {
    const { node, otherNode, pod, approver } = world;
    t.equal(await submit(otherNode, 'takeover', CLIENT, NODE), 403, 'another node');
    for (const [who, caller] of Object.entries({ pod, approver })) {
      t.equal(await submit(caller, 'takeover', CLIENT, NODE), 403, who);
    }
    t.equal(await submit(await joiner(), 'join', CLIENT, NODE), 201);
    t.equal(await submit(node, 'serving', 'kubernetes.io/kubelet-serving', NODE), 201);
    // Decided after these two by a controller that handles requests in order.
    t.equal(await submit(otherNode, 'other-renewal', CLIENT, OTHER_NODE), 201);
    await issued('other-renewal');
    for (const name of ['join', 'serving']) {
      t.same(
        (await read(name)).status.conditions ?? [],
        [],
        `${name} is approved by no controller`,
      );
    }
  });

  /** A user whom an administrator has allowed to request certificates, as kubeadm does for a new node. */
  async function joiner(): Promise<Caller> {
    const { api, admin } = world;
    const group = 'rbac.authorization.k8s.io';
    const body = {
      metadata: { name: 'joiners' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'joiners' }],
    };
    const path = `/apis/${group}/v1/clusterrolebindings`;
    const { code, body: answer } = await api({ ...admin, method: 'POST', path, body });
    if (code !== 201) throw new Error(answer);
    return leafOf('admin', 'new-machine', { organizations: ['joiners'] });
  }

  t.test(
    'the approver approves serving certificates of nodes, and does nothing else',
    async (t) => {
      const { api, approver, node, admin } = world;
      const signer = 'kubernetes.io/kube-apiserver-client';
      t.equal(await submit(admin, 'admins', signer, NODE), 201);
      t.equal(await approve(approver, 'serving'), 200);
      const pem = await issued('serving');
      t.ok(await isIssuedBy(pem, textAt(authorityPaths('kubelet-serving').certificate)));
      t.match(inspectCertificate(pem), { serverAuth: true, clientAuth: false });
      for (const [who, caller] of Object.entries({ approver, node })) {
        t.equal(await approve(caller, 'admins'), 403, `${who}: a client of the API`);
        t.equal(await approve(caller, 'join'), 403, `${who}: a client certificate of a node`);
      }
      for (const [method, path] of [
        ['DELETE', `${CSRS}/serving`],
        ['PATCH', `${CSRS}/serving`],
        ['PATCH', `${CSRS}/serving/status`],
        ['POST', CSRS],
        ['GET', SECRET],
        ['GET', '/api/v1/nodes'],
        ['GET', `/api/v1/nodes/${OTHER_NODE}`],
        ['PATCH', `/api/v1/nodes/${NODE}`],
        ['GET', '/metrics'],
      ] as const) {
        const body = method === 'GET' ? {} : { body: {} };
        t.equal((await api({ ...approver, method, path, ...body })).code, 403, `${method} ${path}`);
      }
      t.equal(
        (await api({ ...approver, path: `/api/v1/nodes?fieldSelector=metadata.name%3D${NODE}` }))
          .code,
        200,
      );
    },
  );

  async function submit(caller: Caller, name: string, signerName: string, node: string) {
    const serving = signerName.endsWith('serving');
    const subject = [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }];
    const names = serving ? [{ type: 'dns' as const, value: node }] : [];
    const spec = {
      request: Buffer.from(await requestPem({ subject, names })).toString('base64'),
      signerName,
      usages: ['digital signature', serving ? 'server auth' : 'client auth'],
    };
    const body = { metadata: { name }, spec };
    return (await world.api({ ...caller, method: 'POST', path: CSRS, body })).code;
  }

  async function read(name: string) {
    const { api, admin } = world;
    return JSON.parse((await api({ ...admin, path: `${CSRS}/${name}` })).body);
  }

  async function issued(name: string): Promise<string> {
    const certificate = await eventually(`certificate ${name}`, async () => {
      const text: unknown = (await read(name)).status?.certificate;
      return typeof text === 'string' ? text : undefined;
    });
    return Buffer.from(certificate, 'base64').toString();
  }

  async function approve(caller: Caller, name: string): Promise<number> {
    const request = await read(name);
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'test' };
    const body = { ...request, status: { ...request.status, conditions: [condition] } };
    const path = `${CSRS}/${name}/approval`;
    return (await world.api({ ...caller, method: 'PUT', path, body })).code;
  }
}
