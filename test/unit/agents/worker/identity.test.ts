import { readlinkSync } from 'node:fs';
import t from 'tap';
import { z } from 'zod';
import { workerKubeletIdentity } from '../../../../agents/worker/kubelet-identity.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import {
  createSigningKey,
  publicCryptoKey,
  publicKeyFingerprint,
} from '../../../../lib/pki/keys.ts';
import { certifyKey } from '../../../../lib/pki/leaf.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import type { FakeApi } from '../../clients/kube/fake-api.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { REQUESTS, type WorkerHost, workerHost } from './worker-host.ts';

const PKI = '/var/lib/kubelet/pki';
const CURRENT = `${PKI}/kubelet-client-current.pem`;
const KEY = '/var/lib/sno-agents/worker/kubelet.key';
const authority = await createAuthority('kubelet-client-ca');

const postedSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    request: z.string(),
    signerName: z.string(),
    usages: z.array(z.string()),
  }),
});

/** The requests that were sent, in order. */
const posted = (api: FakeApi) =>
  api.requests
    .filter(({ method, path }) => method === 'POST' && path === REQUESTS)
    .map(({ body }) => postedSchema.parse(body));

const parsedOf = (request: string) =>
  new x509.Pkcs10CertificateRequest(Buffer.from(request, 'base64').toString());

/** What the control-plane host does after its approval; `name` and `key` of another node and key by choice. */
async function issue(
  { api }: WorkerHost,
  {
    node = 'worker-0',
    key,
    usage = 'client',
  }: { node?: string; key?: string; usage?: 'client' | 'server' } = {},
): Promise<void> {
  const [body] = posted(api);
  if (body === undefined) throw new Error('nothing was requested');
  const publicKey = key ?? parsedOf(body.spec.request).publicKey.toString('pem');
  const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
  const now = new Date();
  const pem = await certifyKey(
    authority,
    await publicCryptoKey(publicKey),
    { subject, usage },
    { now, validFrom: now },
  );
  const certificate = Buffer.from(pem).toString('base64');
  const conditions = [{ type: 'Approved', status: 'True' }];
  api.set(`${REQUESTS}/${body.metadata.name}`, { ...body, status: { conditions, certificate } });
}

const PENDING = /Waiting for worker worker-0 to be approved/;

t.test('kubelet-identity of a worker', async (t) => {
  t.test('is a key of its own, and the certificate that was approved for it', async (t) => {
    const it = await workerHost(t);
    const { host, api } = it;
    t.equal(await host.holds(workerKubeletIdentity), false, 'before');
    const running = host.run(workerKubeletIdentity);
    await host.said(PENDING);
    t.equal(host.mode(KEY), 0o600);
    const fingerprint = publicKeyFingerprint(host.read(KEY));
    t.match(
      host.lines.join(''),
      `The key of worker worker-0 has the fingerprint sha256:${fingerprint}`,
    );
    t.match(host.lines.join(''), `key sha256:${fingerprint}`, 'also in what is waited for');
    const [request, ...more] = posted(api);
    t.same(more, []);
    t.match(request, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: new RegExp(`^sno-worker-worker-0-${fingerprint.slice(0, 12)}-\\d+$`) },
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
    const { subjectName, extensions } = parsedOf(request?.spec.request ?? '');
    t.equal(subjectName.toString(), 'O=system:nodes, CN=system:node:worker-0');
    t.same(extensions, [], 'no other names');
    const read = api.requests.filter(({ method, path }) => method === 'GET' && path === REQUESTS);
    for (const { query } of read)
      t.equal(query.fieldSelector, `metadata.name=${request?.metadata.name}`, 'no other one');
    t.match(api.requests.find(({ method }) => method === 'POST')?.headers, {
      authorization: 'Bearer abcdef.0123456789abcdef',
    });
    await issue(it);
    t.match(await running, { kind: 'done' });
    const target = readlinkSync(host.at(CURRENT));
    t.match(target, /^kubelet-client-\d{4}(-\d\d){5}\.pem$/);
    t.equal(host.mode(`${PKI}/${target}`), 0o600);
    t.equal(publicKeyFingerprint(host.read(CURRENT)), fingerprint);
    t.equal(inspectCertificate(host.read(CURRENT)).subject.commonName, 'system:node:worker-0');
    t.match(host.read(CURRENT), 'PRIVATE KEY');
    t.notOk(host.has(KEY), 'the key is in one place');
    t.equal(await host.holds(workerKubeletIdentity), true, 'after');
  });

  t.test('after a kill it keeps its key and finds its request', async (t) => {
    const it = await workerHost(t);
    const { host, api } = it;
    t.ok(await host.waitsFor(workerKubeletIdentity, PENDING));
    const key = host.read(KEY);
    const running = host.run(workerKubeletIdentity);
    await issue(it);
    t.match(await running, { kind: 'done' });
    t.equal(host.read(CURRENT).includes(key.trim()), true);
    t.equal(new Set(posted(api).map(({ metadata }) => metadata.name)).size, 1);
  });

  t.test('the key is kept until its certificate is in place', async (t) => {
    const it = await workerHost(t);
    const { host } = it;
    host.write(PKI, 'as a full disk: nothing can be written below it');
    const running = host.run(workerKubeletIdentity);
    await host.said(PENDING);
    await issue(it);
    await t.rejects(running);
    const fingerprint = publicKeyFingerprint(host.read(KEY));
    host.remove(PKI);
    t.match(await host.run(workerKubeletIdentity), { kind: 'done' }, 'nobody is asked again');
    t.equal(publicKeyFingerprint(host.read(CURRENT)), fingerprint, 'which people have compared');
  });

  t.test('a certificate for another key or another node is not used', async (t) => {
    const { publicKey } = await createSigningKey();
    for (const [what, wrong, found] of [
      ['key', { key: publicKey }, /found another key/],
      ['use', { usage: 'server' }, /not for this host and its key/],
      ['node', { node: 'edge-0' }, /expected system:node:worker-0; found system:node:edge-0/],
    ] as const) {
      await t.test(what, async (t) => {
        const it = await workerHost(t);
        const running = it.host.failureOf(workerKubeletIdentity);
        await it.host.said(PENDING);
        await issue(it, wrong);
        t.match(await running, { kind: 'retry', message: found });
        t.notOk(it.host.has(CURRENT));
      });
    }
  });

  t.test('a request that was denied, or cannot be signed, is final', async (t) => {
    for (const [type, why, says] of [
      ['Denied', { reason: 'Foreign', message: 'not ours' }, 'Denied, Foreign, not ours'],
      ['Failed', {}, 'Failed'],
    ] as const) {
      const { host, api } = await workerHost(t);
      const running = host.failureOf(workerKubeletIdentity);
      await host.said(PENDING);
      const [body] = posted(api);
      const conditions = [{ type, status: 'True', ...why }];
      if (body !== undefined)
        api.set(`${REQUESTS}/${body.metadata.name}`, { ...body, status: { conditions } });
      const message = new RegExp(`was not granted; found ${says}$`);
      t.match(await running, { kind: 'fatal', message });
    }
  });

  t.test('a request that was deleted is repeated', async (t) => {
    const { host, api } = await workerHost(t);
    const running = host.run(workerKubeletIdentity);
    await host.said(PENDING);
    api.delete(`${REQUESTS}/${posted(api)[0]?.metadata.name}`);
    t.match(await running, { kind: 'not-yet' });
  });

  t.test('nothing is requested of an API that is not ready', async (t) => {
    const { host, api } = await workerHost(t);
    api.rule(({ path }) => (path === '/readyz' ? { code: 500, body: 'starting' } : undefined));
    t.ok(await host.waitsFor(workerKubeletIdentity, /Waiting for the API server to be ready/));
    t.same(posted(api), []);
  });

  t.test('a request is repeated once its half hour is over', async (t) => {
    const { host } = await workerHost(t);
    const end = Math.ceil(Date.now() / 1_800_000) * 1_800_000;
    t.capture(Date, 'now', () => end - 200);
    t.match(await host.run(workerKubeletIdentity), {
      kind: 'not-yet',
      reason: /request for a certificate is not approved/,
    });
  });

  t.test('it ends with its step, whose deadline is not that of a request', async (t) => {
    const { host } = await workerHost(t);
    const stop = new AbortController();
    const running = workerKubeletIdentity.run(host.context, host.progress(stop.signal));
    const ended = thrownBy(running);
    await host.said(PENDING);
    stop.abort(new Failure('deadline', 'the step is over'));
    t.match(await ended, { kind: 'deadline', message: 'the step is over' });
  });

  t.test('a token that has expired is reported with its remedy', async (t) => {
    const { host, api } = await workerHost(t);
    api.rule(({ method }) =>
      method === 'POST' ? refusal(401, { message: 'Unauthorized' }) : undefined,
    );
    const error: unknown = await host.run(workerKubeletIdentity).catch((error: unknown) => error);
    t.match(error, {
      kind: 'fatal',
      message: /does not accept the bootstrap token.*sno create worker-ignition/,
    });
    t.match(describeError(error), /Unauthorized/, 'what the API server said');
  });

  t.test('another refusal than that of the token is not final', async (t) => {
    const { host, api } = await workerHost(t);
    api.rule(({ method }) =>
      method === 'POST' ? refusal(403, { message: 'not yet' }) : undefined,
    );
    t.match(await thrownBy(host.run(workerKubeletIdentity)), { code: 403, message: /not yet/ });
  });

  t.test('the identity of another host name does not hold', async (t) => {
    const it = await workerHost(t);
    const running = it.host.run(workerKubeletIdentity);
    await it.host.said(PENDING);
    await issue(it);
    await running;
    const renamed = { ...it.host.context, hostname: () => 'worker-1' };
    t.equal(await workerKubeletIdentity.holds(renamed, it.host.progress()), false);
  });
});
