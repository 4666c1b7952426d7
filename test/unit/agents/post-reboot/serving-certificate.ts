import { X509Certificate } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { servingCertificate } from '../../../../agents/steps/serving-certificate.ts';
import { createAuthority } from '../../../../lib/pki/authority.ts';
import { issueLeaf } from '../../../../lib/pki/leaf.ts';
import { requestObject } from '../../csr/requests.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { fakeApi, kubeconfigs, listOf } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CURRENT = '/var/lib/kubelet/pki/kubelet-server-current.pem';
const day = 24 * 3_600_000;
const authority = await createAuthority('kubelet-serving-ca');
const issue = async (name: string, daysAgo = 0, lifetimeDays = 30) => {
  const profile = {
    subject: { commonName: `system:node:${name}` },
    usage: 'server',
    dnsNames: [name],
    lifetimeDays,
  } as const;
  return (await issueLeaf(authority, profile, new Date(Date.now() - daysAgo * day))).certificate;
};

const onDisk: [title: string, pem: string | undefined, holds: boolean][] = [
  ['of this host', await issue('edge-0'), true],
  ['of another host', await issue('edge-1'), false],
  ['that has expired', await issue('edge-0', 40), false],
  ['that is not valid yet', await issue('edge-0', -10), false],
  ['that does not exist', undefined, false],
];

const requests = (t: Test, host: ReturnType<typeof testHost>) =>
  fakeApi(t, host, {
    'GET /api/v1/nodes': () => listOf(),
    [`GET ${REQUESTS}`]: () => listOf(),
  });

t.test('serving-certificate', async (t) => {
  for (const [title, pem, holds] of onDisk) {
    t.test(`a certificate ${title}`, async (t) => {
      const host = testHost(t);
      host.write(`${CURRENT}.keep`);
      if (pem !== undefined) host.write(CURRENT, pem);
      t.equal(await host.holds(servingCertificate), holds);
      await requests(t, host);
      const waiting = /Waiting for the kubelet's serving certificate/;
      if (holds) t.same(await host.run(servingCertificate), { kind: 'done' });
      else t.ok(await host.waitsFor(servingCertificate, waiting), 'it is waited for');
    });
  }

  t.test("approves this node's request, as a user without other rights", async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    host.write('/etc/hostname', 'edge-0\n');
    giveAddresses(host, '192.0.2.10/24');
    t.teardown(() => syncBuiltinESMExports());
    t.capture(os, 'hostname', () => 'edge-0');
    t.capture(os, 'networkInterfaces', () => ({
      eth0: [{ address: '192.0.2.10', internal: false }],
    }));
    syncBuiltinESMExports();
    const request = await requestObject({
      subject: [{ O: ['system:nodes'] }, { CN: ['system:node:edge-0'] }],
      names: [
        { type: 'dns', value: 'edge-0' },
        { type: 'ip', value: '192.0.2.10' },
      ],
      spec: { username: 'system:node:edge-0' },
      created: new Date().toISOString(),
    });
    const addresses = [{ type: 'InternalIP', address: '192.0.2.10' }];
    const node = { metadata: { name: 'edge-0', uid: 'u' }, status: { addresses } };
    const approvals: object[] = [];
    await fakeApi(t, host, {
      'GET /api/v1/nodes': () => listOf(node),
      [`GET ${REQUESTS}`]: () => listOf(request),
      [`PUT ${REQUESTS}/csr-abcde/approval`]: ({ body }) => {
        approvals.push(JSON.parse(body).status.conditions[0]);
        // What the controller-manager and the kubelet do in response.
        host.write(CURRENT, onDisk[0]?.[1] ?? '');
        return JSON.parse(body);
      },
    });
    for (const path of Object.values(kubeconfigs)) {
      if (path !== kubeconfigs.csrApprover) host.remove(path);
    }
    t.same(await host.run(servingCertificate), { kind: 'done' });
    t.match(approvals, [{ type: 'Approved', status: 'True' }]);
    t.match(host.lines.join(''), /csr-abcde/);
  });

  t.test('ends when the kubelet writes it', async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    await requests(t, host);
    const files = await recordFileOperations(t, host.at('/var/lib/kubelet/pki'));
    const running = host.run(servingCertificate);
    await host.said(/Waiting for/);
    // As the kubelet does: behind a link, and without a sync.
    host.write('/var/lib/kubelet/pki/kubelet-server-dated.pem', onDisk[0]?.[1] ?? '');
    symlinkSync('kubelet-server-dated.pem', host.at(CURRENT));
    t.same(await running, { kind: 'done' });
    t.strictSame(files.seen, ['sync kubelet-server-dated.pem'], 'a power cut leaves it complete');
  });

  t.test('a request for another node is reported and left pending', async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    host.programs.give('ip', 'echo "[]"');
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
    const { requests: seen } = await fakeApi(t, host, {
      'GET /api/v1/nodes': () => listOf(),
      [`GET ${REQUESTS}`]: () => listOf(request),
    });
    t.ok(await host.waitsFor(servingCertificate, /csr-1/), host.lines.join(''));
    t.notOk(
      seen.some((call) => call.startsWith('PUT')),
      'nothing is approved',
    );
  });

  t.test('reports at its deadline which file it waited for', async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    await requests(t, host);
    const running = servingCertificate.run(host.context, host.progress(undefined, 0));
    await t.rejects(running, {
      kind: 'deadline',
      message: /for a new .*kubelet-server-current\.pem/,
    });
  });

  t.test('holds from the first moment of its lifetime to the last', async (t) => {
    const pem = await issue('edge-0');
    const { validFromDate, validToDate } = new X509Certificate(pem);
    const host = testHost(t);
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
