import t from 'tap';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { WORKER_APPROVER } from '../../../lib/clients/rights/workers.ts';
import type { Decision } from '../../../lib/cluster/csr/decision.ts';
import { approveWorkerRequests } from '../../../lib/cluster/csr/worker-approver.ts';
import { API_TRUST_ANNOTATION } from '../../../lib/cluster/workers/api-trust.ts';
import type { AllowedWorker } from '../../../lib/cluster/workers/entry.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { requestPem, type Variation } from '../../unit/cluster/csr/requests.ts';
import { textAt } from '../../unit/render/rendered-host.ts';
import type { Caller } from './request.ts';
import { eventually, leafOf, NAMESPACE, NODE, OTHER_NODE, type World } from './world.ts';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SERVING = 'kubernetes.io/kubelet-serving';
const JOINING = 'joining-0';
const ADDRESS = '192.0.2.30';

const allowed = (name: string, more: Partial<AllowedWorker> = {}): AllowedWorker => ({
  name,
  addresses: [ADDRESS],
  expires: new Date(Date.now() + 3_600_000),
  ...more,
});

/** What a host can do with the bootstrap token that every worker has. */
export function workerAttacks(world: World): void {
  t.test('a bootstrap token makes requests, and nothing else', async (t) => {
    const { api } = world;
    const token = await tokenFor('aaaaaa', 3600);
    t.equal(await submit(token, 'by-token', CLIENT, NODE), 201);
    t.equal((await api({ ...token, path: `${CSRS}/by-token` })).code, 200, 'reads it');
    for (const [method, path] of [
      ['GET', '/api/v1/nodes'],
      ['POST', '/api/v1/nodes'],
      ['GET', '/api/v1/namespaces/kube-system/secrets'],
      ['GET', `/api/v1/namespaces/${NAMESPACE}/pods`],
      ['GET', '/api/v1/namespaces/kube-system/configmaps'],
      ['DELETE', `${CSRS}/by-token`],
      ['PUT', `${CSRS}/by-token/approval`],
    ] as const) {
      const body = method === 'GET' ? {} : { body: {} };
      t.equal((await api({ ...token, method, path, ...body })).code, 403, `${method} ${path}`);
    }
  });

  t.test('a node reads the published CA, and confirms it on its own Node alone', async (t) => {
    const { api, node, otherNode, pod } = world;
    const configMaps = '/api/v1/namespaces/kube-system/configmaps';
    const published = `${configMaps}/kube-root-ca.crt`;
    await eventually('the publication of the CA', async () =>
      (await api({ ...node, path: published })).code === 200 ? true : undefined,
    );
    for (const [method, path] of [
      ['GET', configMaps],
      ['GET', `${configMaps}/extension-apiserver-authentication`],
      ['GET', '/api/v1/namespaces/default/configmaps/kube-root-ca.crt'],
      ['PATCH', published],
      ['DELETE', published],
    ] as const) {
      const body = method === 'GET' ? {} : { body: {} };
      t.equal((await api({ ...node, method, path, ...body })).code, 403, `${method} ${path}`);
    }
    const confirm = async (caller: Caller, name: string) => {
      const body = { metadata: { annotations: { [API_TRUST_ANNOTATION]: name } } };
      return (await api({ ...caller, method: 'PATCH', path: `/api/v1/nodes/${name}`, body })).code;
    };
    t.equal(await confirm(otherNode, OTHER_NODE), 200);
    t.equal(await confirm(otherNode, NODE), 403, 'not for another node');
    t.equal(await confirm(pod, OTHER_NODE), 403, 'not a pod');
    t.equal(await confirm(await tokenFor('eeeeee', 3600), OTHER_NODE), 403, 'not a token');
    const [found] = JSON.parse(
      (await api({ ...world.admin, path: '/api/v1/nodes' })).body,
    ).items.filter(({ metadata }: { metadata: { name: string } }) => metadata.name === OTHER_NODE);
    t.equal(found?.metadata.annotations[API_TRUST_ANNOTATION], OTHER_NODE);
  });

  t.test('a token that has expired, or is not known, is nobody', async (t) => {
    const expired = await tokenFor('bbbbbb', -60);
    t.equal(await submit(expired, 'by-expired', CLIENT, JOINING), 401);
    t.equal(await submit({ token: 'cccccc.0123456789abcdef' }, 'by-unknown', CLIENT, JOINING), 401);
  });

  t.test('a token gets the certificate of an allowed worker, and of no other node', async (t) => {
    const token = await tokenFor('dddddd', 3600);
    const decisions: Decision[] = [];
    const recorded: string[] = [];
    const served: string[] = [];
    const stop = new AbortController();
    using client = await approverClient();
    const running = approveWorkerRequests(client, {
      signal: stop.signal,
      ownName: NODE,
      workers: [
        allowed(JOINING),
        allowed('late-0', { expires: new Date(Date.now() - 1000) }),
        allowed('keyed-0', { keySha256: '0'.repeat(64) }),
        // An entry that must not exist: the list refuses it, and so does the judge.
        allowed(NODE),
      ],
      report: (decision) => decisions.push(decision),
      serving: async ({ name }) => void recorded.push(name),
      served: ({ name }) => served.push(name),
    });
    running.catch(() => {});
    const ruleOf = (name: string) =>
      eventually(`a decision on ${name}`, async () => {
        const found = decisions.findLast(({ request }) => request === name)?.judgement;
        return found !== undefined && 'rule' in found ? found.rule : undefined;
      });

    for (const [name, node, rule] of [
      ['as-control-plane', NODE, 'worker'],
      ['as-stranger', 'stranger-0', 'worker'],
      ['as-late', 'late-0', 'expiry'],
      ['as-keyed', 'keyed-0', 'fingerprint'],
    ] as const) {
      t.equal(await submit(token, name, CLIENT, node), 201, name);
      t.equal(await ruleOf(name), rule, name);
    }
    t.equal(await submit(token, 'serving-by-token', SERVING, NODE), 201);
    t.equal(await ruleOf('serving-by-token'), 'worker');

    t.equal(await submit(token, 'as-joining', CLIENT, JOINING), 201);
    const certificate = await issued('as-joining');
    t.ok(await isIssuedBy(certificate, textAt(authorityPaths('kubelet-client').certificate)));
    const { subject, clientAuth, serverAuth } = inspectCertificate(certificate);
    t.match(
      { subject, clientAuth, serverAuth },
      { subject: { commonName: `system:node:${JOINING}` }, clientAuth: true, serverAuth: false },
    );

    const worker = await leafOf('kubelet-client', `system:node:${JOINING}`, {
      organizations: ['system:nodes'],
    });
    await register(worker);
    t.equal(await submit(token, 'again', CLIENT, JOINING), 201);
    t.equal(await ruleOf('again'), 'node-exists', 'not while its Node exists');
    t.equal(
      await submit(worker, 'stolen-address', SERVING, JOINING, [
        { type: 'ip', value: '192.0.2.10' },
      ]),
      201,
    );
    t.equal(await ruleOf('stolen-address'), 'names');
    t.equal(
      await submit(worker, 'own-address', SERVING, JOINING, [{ type: 'ip', value: ADDRESS }]),
      201,
    );
    t.match(inspectCertificate(await issued('own-address')), {
      serverAuth: true,
      dnsNames: [JOINING],
      ipAddresses: [ADDRESS],
    });
    t.same({ recorded, served }, { recorded: [JOINING], served: [JOINING] });

    for (const name of ['as-control-plane', 'as-stranger', 'as-late', 'as-keyed', 'again']) {
      t.same((await read(name)).status.conditions ?? [], [], `${name} is still undecided`);
    }
    stop.abort(new Error('stopped by the test'));
    await t.rejects(running, /stopped by the test/);
  });

  t.test('the approver of workers can do nothing else', async (t) => {
    const { api } = world;
    const approver = await leafOf('admin', WORKER_APPROVER, { organizations: [WORKER_APPROVER] });
    const place = '/api/v1/nodes';
    t.equal((await api({ ...approver, path: place })).code, 200);
    for (const [method, path] of [
      ['POST', place],
      ['PATCH', `${place}/${NODE}`],
      ['DELETE', `${place}/${JOINING}`],
      ['POST', CSRS],
      ['DELETE', `${CSRS}/again`],
      ['GET', '/api/v1/namespaces/kube-system/secrets'],
      ['GET', '/api/v1/pods'],
    ] as const) {
      const body = method === 'GET' ? {} : { body: {} };
      t.equal((await api({ ...approver, method, path, ...body })).code, 403, `${method} ${path}`);
    }
    t.equal(
      await submit(world.admin, 'an-admin', 'kubernetes.io/kube-apiserver-client', NODE),
      201,
    );
    const request = await read('an-admin');
    const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'test' };
    const body = { ...request, status: { conditions: [condition] } };
    const path = `${CSRS}/an-admin/approval`;
    t.equal(
      (await api({ ...approver, method: 'PUT', path, body })).code,
      403,
      'a client of the API',
    );
  });

  /** A bootstrap token for workers, as an administrator makes it. */
  async function tokenFor(id: string, seconds: number): Promise<Caller> {
    const secret = '0123456789abcdef';
    const body = {
      metadata: { name: `bootstrap-token-${id}` },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': id,
        'token-secret': secret,
        expiration: new Date(Date.now() + seconds * 1000).toISOString(),
        'usage-bootstrap-authentication': 'true',
        'auth-extra-groups': 'system:bootstrappers:sno-workers',
      },
    };
    const path = '/api/v1/namespaces/kube-system/secrets';
    const { code, body: answer } = await world.api({ ...world.admin, method: 'POST', path, body });
    if (code !== 201) throw new Error(answer);
    return { token: `${id}.${secret}` };
  }

  async function approverClient(): Promise<KubeClient> {
    const leaf = await leafOf('admin', WORKER_APPROVER, { organizations: [WORKER_APPROVER] });
    const server = new URL(`https://127.0.0.1:${world.plane.port(6443)}`);
    return new KubeClient({ server, ca: textAt(authorityPaths('serving').certificate), ...leaf });
  }

  async function register(worker: Caller): Promise<void> {
    const { api } = world;
    const body = { metadata: { name: JOINING } };
    const path = '/api/v1/nodes';
    t.equal((await api({ ...worker, method: 'POST', path, body })).code, 201);
    const status = { addresses: [{ type: 'InternalIP', address: ADDRESS }] };
    const place = `${path}/${JOINING}/status`;
    t.equal((await api({ ...worker, method: 'PATCH', path: place, body: { status } })).code, 200);
  }

  async function submit(
    caller: Caller,
    name: string,
    signerName: string,
    node: string,
    addresses: NonNullable<Variation['names']> = [],
  ) {
    const isServing = signerName === SERVING;
    const subject = [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }];
    const names = isServing ? [{ type: 'dns' as const, value: node }, ...addresses] : [];
    const spec = {
      request: Buffer.from(await requestPem({ subject, names })).toString('base64'),
      signerName,
      usages: ['digital signature', isServing ? 'server auth' : 'client auth'],
    };
    const body = { metadata: { name }, spec };
    return (await world.api({ ...caller, method: 'POST', path: CSRS, body })).code;
  }

  async function read(name: string) {
    return JSON.parse((await world.api({ ...world.admin, path: `${CSRS}/${name}` })).body);
  }

  async function issued(name: string): Promise<string> {
    const certificate = await eventually(`certificate ${name}`, async () => {
      const text: unknown = (await read(name)).status?.certificate;
      return typeof text === 'string' ? text : undefined;
    });
    return Buffer.from(certificate, 'base64').toString();
  }
}
