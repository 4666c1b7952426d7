import { X509Certificate } from 'node:crypto';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { servingCertificate } from '../../../../agents/steps/serving-certificate.ts';
import { createAuthority } from '../../../../lib/pki/authority.ts';
import { issueLeaf } from '../../../../lib/pki/leaf.ts';
import { fakeApi, listOf } from '../host/api.ts';
import { testHost } from '../host/host.ts';

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
    'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': () => listOf(),
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

  t.test('ends when the kubelet writes it', async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    await requests(t, host);
    const running = host.run(servingCertificate);
    await host.said(/Waiting for/);
    host.write(CURRENT, onDisk[0]?.[1] ?? '');
    t.same(await running, { kind: 'done' });
  });

  t.test('a request that is not for this node is reported and left alone', async (t) => {
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
      'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': () => listOf(request),
    });
    t.ok(await host.waitsFor(servingCertificate, /csr-1/), host.lines.join(''));
    t.notOk(
      seen.some((call) => call.startsWith('PUT')),
      'nothing is approved',
    );
  });

  t.test('says at its deadline which file it waited for', async (t) => {
    const host = testHost(t);
    host.write(`${CURRENT}.keep`);
    await requests(t, host);
    const running = servingCertificate.run(host.context, host.progress(undefined, 0));
    await t.rejects(running, {
      kind: 'deadline',
      message: /kubelet-server-current\.pem to appear/,
    });
  });

  t.test('holds from the first moment of its life to the last', async (t) => {
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
