import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { errorFromAnswer } from '../../../../lib/clients/kube/kube-error.ts';
import type { Access } from '../../../../lib/clients/kube/kubeconfig.ts';
import { type Answer, type Call, Transport } from '../../../../lib/clients/kube/transport.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { stopClock } from './stopped-clock.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
const limits: Limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const GET: Call = { method: 'GET', path: '/x?y=1' };
const failed = ({ code, body, retryAfter }: Answer) =>
  errorFromAnswer('GET /x', code, body, retryAfter);

async function transport(t: Test, listener: Listener, access: Partial<Access> = {}, folder = '') {
  const { port, stop } = await serveApi(t, listener);
  const server = new URL(`https://127.0.0.1:${port}${folder}`);
  const it = new Transport({ server, ca: servingAuthority, ...access });
  t.teardown(() => it[Symbol.dispose]());
  return { it, stop };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

t.test('a request states its sender and the accepted formats', async (t) => {
  const seen: object[] = [];
  const listener: Listener = (request, response) => {
    const { method, url, headers } = request;
    const { accept, authorization, 'user-agent': agent, 'content-type': type } = headers;
    seen.push({
      method,
      url,
      accept,
      authorization,
      agent,
      type,
      length: headers['content-length'],
    });
    response.end();
  };
  const { it } = await transport(t, listener, { token: 'secret' }, '/prefix/');
  await it.exchange(GET, limits);
  await it.exchange({ ...GET, method: 'POST', body: { a: 'ä' }, accept: 'text/plain' }, limits);
  await it.exchange({ ...GET, method: 'PATCH', body: 1, contentType: 'text/x' }, limits);
  await it.exchange({ ...GET, method: 'DELETE', body: { grace: 0 } }, limits);
  await it.exchange({ ...GET, method: 'DELETE' }, limits);
  const json = 'application/json';
  const always = { url: '/prefix/x?y=1', authorization: 'Bearer secret', agent: 'sno-agents' };
  t.strictSame(seen, [
    { method: 'GET', ...always, accept: json, type: undefined, length: undefined },
    { method: 'POST', ...always, accept: 'text/plain', type: json, length: '10' },
    { method: 'PATCH', ...always, accept: json, type: 'text/x', length: '1' },
    { method: 'DELETE', ...always, accept: json, type: json, length: '11' },
    { method: 'DELETE', ...always, accept: json, type: undefined, length: undefined },
  ]);
  const plain = await transport(t, listener);
  await plain.it.exchange(GET, limits);
  t.match(seen.at(-1), { url: '/x?y=1', authorization: undefined });
});

t.test('client and server authenticate with certificates', async (t) => {
  const names: unknown[] = [];
  const listener: Listener = ({ socket }, response) => {
    if (socket instanceof TLSSocket) names.push(socket.getPeerCertificate().subject?.CN);
    response.end();
  };
  const authority = await createAuthority('somebody');
  const identity = await issueLeaf(authority, { subject: { commonName: 'me' }, usage: 'client' });
  await (await transport(t, listener, identity)).it.exchange(GET, limits);
  await (await transport(t, listener)).it.exchange(GET, limits);
  t.strictSame(names, ['me', undefined]);
  const { it } = await transport(t, listener, { ca: authority.certificate });
  t.match(await thrownBy(it.exchange(GET, limits)), {
    kind: 'unreachable',
    message: /^GET \/x\?y=1: .*(certificate|issuer)/,
  });
  t.equal(names.length, 2, 'nothing was sent to a server that nobody knows');
});

t.test('connections are kept until the transport is disposed of', async (t) => {
  const sockets = new Set<object>();
  const closed = Promise.withResolvers<void>();
  const { it } = await transport(t, ({ socket }, response) => {
    sockets.add(socket);
    socket.once('close', () => closed.resolve());
    response.end();
  });
  await it.exchange(GET, limits);
  await it.exchange(GET, limits);
  t.equal(sockets.size, 1);
  it[Symbol.dispose]();
  await closed.promise;
});

t.test('a response is streamed in whole lines', async (t) => {
  const bytes = Buffer.from('one\nzw\u00e4i\n\nthree\nhalf');
  const { it } = await transport(t, async (_, response) => {
    // The third chunk starts within a multi-byte character.
    for (const [from, to] of [
      [0, 2],
      [2, 7],
      [7, 99],
    ] as const) {
      await new Promise<void>((sent) => response.write(bytes.subarray(from, to), () => sent()));
    }
    response.end();
  });
  t.equal(Buffer.concat(await all(it.bytes(GET, limits, failed))).compare(bytes), 0);
  t.strictSame(await all(it.lines(GET, limits, failed)), ['one', 'zw\u00e4i', 'three']);
});

t.test('a response has a longest length, and so has a line of a stream', async (t) => {
  const chunk = 'x'.repeat(1 << 20);
  const { it } = await transport(t, async (request, response) => {
    const [, count = 0, end = ''] = /n=(\d+)(.*)$/.exec(request.url ?? '') ?? [];
    response.on('error', () => {});
    for (let at = 0; at < Number(count) && !response.destroyed; at += 1) {
      await new Promise<void>((sent) => response.write(chunk + (end && '\n'), () => sent()));
    }
    response.end();
  });
  const get = (query: string): Call => ({ method: 'GET', path: `/x?${query}` });
  const tooLong = {
    name: 'KubeError',
    kind: 'too-long',
    message: /^GET \/x\?n=.*more than \d+ bytes/,
  };
  t.equal((await it.exchange(get('n=2'), limits, 2 << 20)).body.length, 2 << 20);
  t.match(await thrownBy(it.exchange(get('n=3'), limits, 2 << 20)), tooLong);
  t.match(await thrownBy(it.exchange(get('n=40'), limits)), tooLong);
  t.match(await thrownBy(all(it.lines(get('n=40'), limits, failed))), tooLong);
  t.equal((await all(it.lines(get('n=40lines'), limits, failed))).length, 40);
});

t.test('a refused or broken stream is an error', async (t) => {
  const answers: Listener[] = [
    (_, response) => void response.writeHead(429, { 'retry-after': '2' }).end('slow down'),
    (_, response) => void response.writeHead(201).end('made'),
    (_, response) => void response.write('begun', () => response.destroy()),
    (_, response) => void response.destroy(),
  ];
  const { it } = await transport(t, (request, response) => answers.shift()?.(request, response));
  t.match(await thrownBy(all(it.bytes(GET, limits, failed))), {
    kind: 'busy',
    message: 'GET /x: 429 slow down',
    retryAfterMs: 2000,
  });
  t.match(await thrownBy(all(it.bytes(GET, limits, failed))), { code: 201 });
  const broken = { kind: 'unreachable', message: /^GET \/x\?y=1: / };
  t.match(await thrownBy(all(it.bytes(GET, limits, failed))), broken);
  t.match(await thrownBy(all(it.lines(GET, limits, failed))), broken);
});

t.test('when the reader stops, the request is ended', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { it } = await transport(t, (_, response) => {
    response.on('close', () => closed.resolve());
    response.write('line\n');
  });
  for await (const line of it.lines(GET, limits, failed)) {
    t.equal(line, 'line');
    break;
  }
  await closed.promise;
});

t.test('a request ends at its deadline or with its signal', async (t) => {
  const clock = stopClock(t);
  const arrived = () => new Promise<void>((resolve) => answers.push(() => resolve()));
  const answers: Listener[] = [];
  const { it } = await transport(t, (request, response) => answers.shift()?.(request, response));
  const requests = [
    (some: Limits) => it.exchange(GET, some),
    (some: Limits) => all(it.bytes(GET, some, failed)),
  ];
  for (const request of requests) {
    const late = arrived();
    const failure = thrownBy(request({ ...limits, deadlineMs: 40 }));
    await late;
    clock.pass(40);
    t.match(await failure, { kind: 'unreachable', cause: { cause: { name: 'TimeoutError' } } });

    const stop = new AbortController();
    const begun = arrived();
    const stopped = thrownBy(request({ ...limits, signal: stop.signal }));
    await begun;
    const reason = new Error('told to stop');
    stop.abort(reason);
    t.equal(await stopped, reason);
    t.equal(await thrownBy(request({ ...limits, signal: stop.signal })), reason);
  }
  clock.deadlines.length = 0;
  for (const deadlineMs of [-5, 0, 0.2, 1.2]) {
    const late = arrived();
    const failure = thrownBy(it.exchange(GET, { ...limits, deadlineMs }));
    await late;
    clock.pass(2);
    t.match(await failure, { kind: 'unreachable' });
  }
  t.strictSame(clock.deadlines, [1, 1, 1, 2], 'whole milliseconds, at least one');
});

t.test('credentials that are renewed are asked for before each request', async (t) => {
  const authority = await createAuthority('clients');
  const leaf = (commonName: string) =>
    issueLeaf(authority, { subject: { commonName }, usage: 'client' });
  const [first, second] = [await leaf('first'), await leaf('second')];
  const seen: unknown[] = [];
  const open: ServerResponse[] = [];
  const listener: Listener = (request, response) => {
    const name =
      request.socket instanceof TLSSocket && request.socket.getPeerCertificate().subject.CN;
    seen.push([name, request.headers.authorization]);
    if (request.url === '/watch') {
      response.write('{}\n');
      open.push(response);
    } else response.end();
  };
  const given = [
    { ...first, token: 'a' },
    { ...first, token: 'b' },
    { ...second, token: 'b' },
    { ...second, token: 'b' },
  ];
  const { it } = await transport(t, listener, { renewed: async () => given.shift() ?? {} });
  await it.exchange(GET, limits);
  const watch = it.lines({ method: 'GET', path: '/watch' }, limits, failed);
  t.match(await watch.next(), { value: '{}' });
  await it.exchange(GET, limits);
  await it.exchange(GET, limits);
  t.same(seen, [
    ['first', 'Bearer a'],
    ['first', 'Bearer b'],
    ['second', 'Bearer b'],
    ['second', 'Bearer b'],
  ]);
  open[0]?.end('{"more":1}\n');
  t.match(await watch.next(), { value: '{"more":1}' }, 'an open watch goes on');
});
