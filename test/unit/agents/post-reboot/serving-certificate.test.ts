import { X509Certificate } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { servingCertificate } from '../../../../agents/steps/serving-certificate.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { requestObject } from '../../cluster/csr/requests.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { type ApiAnswer, listOf } from '../host/api.ts';
import {
  approvingHost,
  ofKubelet,
  servingSigner,
  type WritableEndpoints,
} from '../host/approver.ts';
import { testHost } from '../host/host.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CURRENT = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const day = 24 * 3_600_000;
const foreign = await createAuthority('kubelet-serving-ca');
const issue = async (
  name: string,
  daysAgo = 0,
  { ipAddresses = ['192.0.2.10'], dnsNames = [name], authority = servingSigner } = {},
) => {
  const profile = {
    subject: { commonName: `system:node:${name}` },
    usage: 'server',
    dnsNames,
    ipAddresses,
    lifetimeDays: 30,
  } as const;
  return (await issueLeaf(authority, profile, new Date(Date.now() - daysAgo * day))).certificate;
};

const onDisk: [title: string, pem: string | undefined, holds: boolean][] = [
  ['of this host', await issue('edge-0'), true],
  ['of another host', await issue('edge-1'), false],
  ['that has expired', await issue('edge-0', 40), false],
  ['that is not valid yet', await issue('edge-0', -10), false],
  ['that does not exist', undefined, false],
  ['with another address', await issue('edge-0', 0, { ipAddresses: ['192.0.2.11'] }), false],
  [
    'with one more address',
    await issue('edge-0', 0, { ipAddresses: ['192.0.2.10', '192.0.2.11'] }),
    false,
  ],
  ['without an address', await issue('edge-0', 0, { ipAddresses: [] }), false],
  ['with one more name', await issue('edge-0', 0, { dnsNames: ['edge-0', 'api-int'] }), false],
  ['of another authority', await issue('edge-0', 0, { authority: foreign }), false],
];

/** A host with an address, whose agents reach this API. */
async function servingHost(
  t: Test,
  answers: Readonly<Record<string, ApiAnswer>> = {},
  settings: Partial<Settings> = {},
) {
  const endpoints: WritableEndpoints = {};
  const host = testHost(t, { endpoints, settings });
  host.write(`${CURRENT}.keep`);
  const api = await approvingHost(t, host, endpoints, {
    'GET /api/v1/nodes': () => listOf(),
    [`GET ${REQUESTS}`]: () => listOf(),
    ...answers,
  });
  return { host, api };
}

t.test('serving-certificate', async (t) => {
  for (const [title, pem, holds] of onDisk) {
    t.test(`a certificate ${title}`, async (t) => {
      const { host } = await servingHost(t);
      if (pem !== undefined) host.write(CURRENT, pem);
      t.equal(await host.holds(servingCertificate), holds);
      const waiting = /Waiting for the kubelet's serving certificate/;
      if (holds) t.same(await host.run(servingCertificate), { kind: 'done' });
      else t.ok(await host.waitsFor(servingCertificate, waiting), 'it is waited for');
    });
  }

  t.test("approves this node's request, as a user without other rights", async (t) => {
    const request = await requestObject({
      subject: [{ O: ['system:nodes'] }, { CN: ['system:node:edge-0'] }],
      names: [
        { type: 'dns', value: 'edge-0' },
        { type: 'ip', value: '192.0.2.10' },
      ],
      spec: { username: 'system:node:edge-0', extra: ofKubelet },
      created: new Date().toISOString(),
    });
    const addresses = [{ type: 'InternalIP', address: '192.0.2.10' }];
    const node = { metadata: { name: 'edge-0', uid: 'u' }, status: { addresses } };
    const approvals: object[] = [];
    const { host, api } = await servingHost(t, {
      'GET /api/v1/nodes': () => listOf(node),
      [`GET ${REQUESTS}`]: () => listOf(request),
      [`PUT ${REQUESTS}/csr-abcde/approval`]: ({ body }) => {
        approvals.push(JSON.parse(body).status.conditions[0]);
        // What the controller-manager and the kubelet do in response.
        host.write(CURRENT, onDisk[0]?.[1] ?? '');
        return JSON.parse(body);
      },
    });
    t.same(await host.run(servingCertificate), { kind: 'done' });
    t.same([...api.clients], ['O=sno-agents:csr-approver\nCN=sno-agents:csr-approver']);
    t.match(approvals, [{ type: 'Approved', status: 'True' }]);
    t.match(host.lines.join(''), /csr-abcde/);
  });

  t.test('ends when the kubelet writes it', async (t) => {
    const { host } = await servingHost(t);
    const files = await recordFileOperations(t, host.at('/var/lib/kubelet/pki'));
    const running = host.run(servingCertificate);
    await host.said(/Waiting for/);
    // As the kubelet does: behind a link, and without a sync.
    host.write('/var/lib/kubelet/pki/kubelet-server-dated.pem', onDisk[0]?.[1] ?? '');
    symlinkSync('kubelet-server-dated.pem', host.at(CURRENT));
    t.same(await running, { kind: 'done' });
    t.strictSame(files.seen, ['sync kubelet-server-dated.pem'], 'a power cut leaves it complete');
  });

  t.test('where requests are approved elsewhere, it waits for the certificate', async (t) => {
    const settings = { approveCertificates: false };
    const { host, api } = await servingHost(t, {}, settings);
    const running = host.run(servingCertificate);
    await host.said(/approveCertificates is false in settings.json/);
    await host.said(/Waiting for/);
    host.write(CURRENT, onDisk[0]?.[1] ?? '');
    t.same(await running, { kind: 'done' });
    t.same(api.requests, []);
  });

  t.test('a request for another node is reported and left pending', async (t) => {
    const request = {
      metadata: { name: 'csr-1', uid: 'u', creationTimestamp: new Date().toISOString() },
      spec: {
        request: Buffer.from('none').toString('base64'),
        signerName: 'kubernetes.io/kubelet-serving',
        username: 'system:node:edge-1',
        groups: ['system:nodes', 'system:authenticated'],
        usages: ['digital signature', 'server auth'],
      },
    };
    const { host, api } = await servingHost(t, { [`GET ${REQUESTS}`]: () => listOf(request) });
    const { requests: seen } = api;
    t.ok(await host.waitsFor(servingCertificate, /csr-1/), host.lines.join(''));
    t.notOk(
      seen.some((call) => call.startsWith('PUT')),
      'nothing is approved',
    );
  });

  t.test('reports at its deadline which file it waited for', async (t) => {
    const { host } = await servingHost(t);
    const running = servingCertificate.run(host.context, host.progress(undefined, 0));
    await t.rejects(running, {
      kind: 'deadline',
      message: /for a new .*kubelet-server-current\.pem/,
    });
  });

  t.test('holds from the first moment of its lifetime to the last', async (t) => {
    const pem = await issue('edge-0');
    const { validFromDate, validToDate } = new X509Certificate(pem);
    const { host } = await servingHost(t);
    host.write(CURRENT, pem);
    t.teardown(() => mock.timers.reset());
    for (const [at, offsetMs, holds] of [
      [validFromDate, -1, false],
      [validFromDate, 0, true],
      [validToDate, -1, true],
      [validToDate, 0, false],
    ] as const) {
      mock.timers.enable({ apis: ['Date'], now: at.getTime() + offsetMs });
      t.equal(await servingCertificate.holds(host.context, host.progress()), holds);
      mock.timers.reset();
    }
  });
});
