/** How a certificate is proven: by what a server presents, and by what it answers to a client that has it. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createPlainServer } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { z } from 'zod';
import {
  apiUser,
  etcdAnswer,
  kubeletAnswer,
  presentedSerial,
} from '../../../../agents/steps/certificates/dial.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { listening } from '../../clients/kube/listening.ts';

const authority = await createAuthority('serving-ca');
const clients = await createAuthority('client-ca');
const NAME = 'etcd.test';
const server = await issueLeaf(authority, {
  subject: { commonName: NAME },
  usage: 'server',
  dnsNames: [NAME],
  ipAddresses: ['127.0.0.1'],
});
const client = await issueLeaf(clients, { subject: { commonName: 'me' }, usage: 'client' });
const ca = authority.certificate;
const serial = inspectCertificate(server.certificate).serialNumber.toLowerCase();
const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 30_000 };

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly by: string;
  readonly body: unknown;
}

/** A server that takes only clients of `clients`, and answers all alike. */
async function serving(t: Test, answer: { readonly code: number; readonly body: string }) {
  const seen: Seen[] = [];
  const connections: TLSSocket[] = [];
  const listener = createServer(
    { cert: server.certificate, key: server.key, ca: clients.certificate, requestCert: true },
    async (request, response) => {
      const body = request.method === 'POST' ? await json(request) : undefined;
      const { method, url, headers } = request;
      const [last] = connections.slice(-1);
      const by = String(last?.getPeerCertificate().subject.CN);
      seen.push({ method, url, headers, by, body });
      response.writeHead(answer.code).end(answer.body);
    },
  ).listen(0, '127.0.0.1');
  listener.on('secureConnection', (socket: TLSSocket) => connections.push(socket));
  t.teardown(() => {
    listener.closeAllConnections();
    listener.close();
  });
  await once(listener, 'listening');
  const { port } = z.object({ port: z.number() }).parse(listener.address());
  /** Of the next connection. */
  const nextEnd = async (): Promise<void> => {
    const [socket] = await once(listener, 'connection');
    await once(socket, 'close');
  };
  return { url: `https://127.0.0.1:${port}`, seen, connections, nextEnd };
}

t.test('the serial number of what a server presents, on a connection that ends', async (t) => {
  const { url, nextEnd } = await serving(t, { code: 200, body: '' });
  for (const [as, name] of [
    [client, undefined],
    [undefined, NAME],
  ] as const) {
    const ended = nextEnd();
    t.equal(await presentedSerial({ url, ca, name }, as, limits), serial);
    await ended;
  }
  for (const wrong of [
    { url, ca: clients.certificate },
    { url, ca, name: 'another.test' },
  ])
    await t.rejects(presentedSerial(wrong, client, limits), 'it is verified');
});

t.test('a server that says nothing is given up at the deadline, and with its caller', async (t) => {
  const silent = createPlainServer((socket) => void socket.on('error', () => {}).resume());
  const url = `https://127.0.0.1:${await listening(t, silent)}`;
  const asks: ((given: Limits) => Promise<string>)[] = [
    (given) => presentedSerial({ url, ca }, client, given),
    (given) => apiUser({ url, ca }, client, undefined, given),
    (given) => etcdAnswer({ url, ca }, client, given),
    (given) => kubeletAnswer(url, client, given),
  ];
  for (const ask of asks) {
    const late = await thrownBy(ask({ ...limits, deadlineMs: 20 }));
    t.match(late, { cause: { name: 'TimeoutError' } });
    const stop = new AbortController();
    const ended = thrownBy(ask({ ...limits, signal: stop.signal }));
    stop.abort(new Error('stopped by the test'));
    t.match(await ended, { cause: { message: 'stopped by the test' } });
  }
});

t.test('the API server names the client, or the user whom the front proxy names', async (t) => {
  const body = JSON.stringify({ status: { userInfo: { username: 'somebody' } } });
  const { url, seen } = await serving(t, { code: 201, body });
  t.equal(await apiUser({ url, ca }, client, undefined, limits), 'somebody');
  t.equal(await apiUser({ url, ca }, client, 'another', limits), 'somebody');
  const request = {
    method: 'POST',
    url: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    by: 'me',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  };
  t.match(seen, [request, request]);
  t.same(
    seen.map(({ headers }) => [headers['content-type'], headers['x-remote-user']]),
    [
      ['application/json', undefined],
      ['application/json', 'another'],
    ],
  );
  const { url: silent } = await serving(t, { code: 200, body: '{"status":{}}' });
  t.match(await thrownBy(apiUser({ url: silent, ca }, client, undefined, limits)), {
    kind: 'retry',
    message: /does not name the client; found \{"status":\{\}\}/,
  });
});

t.test('etcd and the kubelet are asked what needs no rights but the certificate', async (t) => {
  const { url, seen, connections } = await serving(t, { code: 200, body: '{}' });
  t.equal(await etcdAnswer({ url, ca }, client, limits), 'etcd accepts it');
  t.equal(await kubeletAnswer(url, client, limits), 'the kubelet accepts it');
  t.match(seen, [
    { method: 'GET', url: '/version', by: 'me' },
    { method: 'GET', url: '/healthz', by: 'me' },
  ]);
  await etcdAnswer({ url, ca }, client, limits);
  await kubeletAnswer(url, client, limits);
  t.equal(connections.length, 4, 'each on a connection of its own: the certificate is looked at');
  await t.rejects(etcdAnswer({ url, ca: clients.certificate }, client, limits), 'it is verified');
});

t.test('an answer that is none is a refusal, with its status and its beginning', async (t) => {
  for (const code of [301, 401, 500]) {
    const { url } = await serving(t, { code, body: 'x'.repeat(300) });
    t.match(await thrownBy(kubeletAnswer(url, client, limits)), {
      kind: 'retry',
      message: `GET /healthz was refused; found status ${code}: ${'x'.repeat(200)}`,
      details: { subject: String(code) },
    });
  }
  const { url } = await serving(t, { code: 299, body: '' });
  t.equal(await kubeletAnswer(url, client, limits), 'the kubelet accepts it');
});
