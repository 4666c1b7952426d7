import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import t, { type Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { describeError, Failure, type FailureKind } from '../../../../lib/base/errors/failure.ts';
import { parseConfig, serializeConfig } from '../../../../lib/render/ignition/config.ts';
import { configOf, file } from '../../../../lib/render/ignition/entries.ts';
import { fetchMasterIgnition } from '../../../../lib/render/ignition/machine-config-server.ts';

const [authority, other] = await Promise.all([
  createAuthority('root-ca'),
  createAuthority('another-ca'),
]);
const server = await issueLeaf(authority, {
  subject: { commonName: 'machine-config-server' },
  usage: 'server',
  ipAddresses: ['127.0.0.1'],
});
const elsewhere = await issueLeaf(authority, {
  subject: { commonName: 'machine-config-server' },
  usage: 'server',
  dnsNames: ['api-int.other.test'],
});
const master = serializeConfig(configOf({ files: [file('/etc/master', 0o600, 'm')] }));

const answering =
  (status: number, body: string): RequestListener =>
  (_, answer) =>
    void answer.writeHead(status).end(body);

/** Serves on loopback until the test ends; returns its URL. */
async function serve(t: Test, listener: RequestListener, { certificate, key } = server) {
  const https = createServer({ cert: certificate, key }, listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  https.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => {
    https.closeAllConnections();
    https.close();
  });
  const address = https.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `https://127.0.0.1:${address.port}/config/master`;
}

interface Options {
  ca?: string;
  deadlineMs?: number;
  signal?: AbortSignal;
}

const fetched = (url: string, options: Options = {}) =>
  fetchMasterIgnition({
    url,
    ca: authority.certificate,
    signal: AbortSignal.timeout(60_000),
    deadlineMs: 60_000,
    ...options,
  });

async function refused(t: Test, what: Promise<string>, kind: FailureKind, says: RegExp) {
  const error = await what.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Failure)) return void t.fail(`no Failure: ${error}`);
  t.equal(error.kind, kind);
  t.match(describeError(error), says);
}

t.test('status 200 with a config', async (t) => {
  const accepts: (string | undefined)[] = [];
  const url = await serve(t, (request, answer) => {
    accepts.push(request.headers.accept);
    answer.end(master);
  });
  t.equal(await fetched(url), master);
  t.strictSame(
    accepts,
    ['application/vnd.coreos.ignition+json;version=3.2.0'],
    'the oldest spec that every supported target reads',
  );
});

for (const [status, body, says] of [
  [400, 'bad request', /status 200 with a body; found status 400/],
  [404, '', /found status 404 with an empty body/],
  [500, 'pool master is not there', /found status 500/],
  [204, '', /found status 204/],
  [302, master, /found status 302/],
  [200, '', /found status 200 with an empty body/],
] as const) {
  t.test(`status ${status} with ${body.length} bytes is not a config`, async (t) => {
    const url = await serve(t, answering(status, body));
    await refused(t, fetched(url), 'retry', says);
  });
}

t.test('only a server with a certificate of the authority is trusted', async (t) => {
  const good = await serve(t, answering(200, master));
  await refused(t, fetched(good, { ca: other.certificate }), 'retry', /certificate/);
  const wrongName = await serve(t, answering(200, master), elsewhere);
  await refused(t, fetched(wrongName), 'retry', /127\.0\.0\.1/);
});

t.test('nothing is requested without TLS', async (t) => {
  let asked = 0;
  const url = await serve(t, (_, answer) => {
    asked += 1;
    answer.end(master);
  });
  await refused(t, fetched(url.replace('https:', 'http:')), 'usage', /expected https:\/\//);
  t.equal(asked, 0);
});

t.test('an endless body is not read to the end', async (t) => {
  const part = Buffer.alloc(1 << 20, 'x');
  let sent = 0;
  const url = await serve(t, (_, answer) => {
    const more = () => {
      while (!answer.destroyed && sent < 200) {
        sent += 1;
        if (!answer.write(part)) return void answer.once('drain', more);
      }
      answer.end();
    };
    more();
  });
  await refused(t, fetched(url), 'retry', /more than 67108864 bytes/);
  t.ok(sent < 100, `${sent} MiB`);
});

t.test('a server that hangs ends at its deadline', async (t) => {
  for (const [name, listener] of [
    ['before it answers', () => undefined],
    ['in the middle of the body', (_, answer) => void answer.writeHead(200).write('{')],
  ] satisfies [string, RequestListener][]) {
    const url = await serve(t, listener);
    // Only the deadline ends this request.
    const { signal } = new AbortController();
    const late = fetched(url, { signal, deadlineMs: 200 });
    await refused(t, late, 'retry', /cannot be downloaded.*longer than it may/);
    t.pass(name);
  }
});

t.test('a connection that breaks in the middle of the body is not a config', async (t) => {
  const url = await serve(t, (_, answer) => {
    answer.writeHead(200, { 'content-length': master.length });
    answer.write(master.slice(0, 20), () => answer.destroy());
  });
  await refused(t, fetched(url), 'retry', /cannot be downloaded/);
});

t.test('an agent that is told to stop ends the request', async (t) => {
  const stop = new AbortController();
  const url = await serve(t, () => stop.abort(new Error('told to stop')));
  await refused(t, fetched(url, { signal: stop.signal }), 'retry', /cannot be downloaded/);
});

t.test('a response with status 200 must be a config that is not empty', async (t) => {
  t.doesNotThrow(() => parseConfig(master, 'the server'));
  for (const [body, says] of [
    ['<html>login</html>', /the server.*\n.*is not JSON/],
    ['{}', /ignition/],
    ['{"ignition":{"version":"2.2.0"}}', /ignition\.version is not a spec version/],
    ['{"ignition":{"version":"3.2.0"}}', /the server is empty/],
    [master.slice(0, -10), /is not JSON/],
    ['{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"etc/x"}]}}', /clean absolute/],
  ] as const) {
    t.throws(() => parseConfig(body, 'the server'), { name: 'Failure', message: says }, body);
  }
});
