/** What an API server sees of a person's kubeconfig: from `sno` the same as from kubectl. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { mock } from 'node:test';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { throughProxy } from '../../../cli/kubeconfig/proxy.ts';
import { readPersonsKubeconfig } from '../../../cli/kubeconfig/read-kubeconfig.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { kubernetesBinary } from '../../../lab/servers/binaries.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { listening } from '../../unit/clients/kube/listening.ts';
import { serveApi, servingAuthority } from '../../unit/gather/cluster/serve-api.ts';

const DEADLINE_MS = 60_000;
const signal = AbortSignal.timeout(10 * 60_000);
const limits = { signal, deadlineMs: DEADLINE_MS };
const kubectl = await kubernetesBinary('kubectl', signal);
const base64 = (text: string) => Buffer.from(text).toString('base64');

const clients = await createAuthority('clients');
const person = await issueLeaf(clients, { subject: { commonName: 'person' }, usage: 'client' });
const other = await issueLeaf(clients, { subject: { commonName: 'other' }, usage: 'client' });

/** A kubeconfig whose other entries are none of this command's business. */
const config = (port: number, cluster: object, user: object) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'other', cluster: { server: 'http://127.0.0.1', 'insecure-skip-tls-verify': true } },
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': base64(servingAuthority),
          ...cluster,
        },
      },
    ],
    users: [
      { name: 'other', user: { 'auth-provider': { name: 'gcp' } } },
      { name: 'u', user },
    ],
  });

/** Of a request, what says who asks, and for which name the certificate was verified. */
function seenOf({ headers, socket }: IncomingMessage) {
  const said = Object.entries(headers).filter(([name]) =>
    /^(authorization|impersonate)/.test(name),
  );
  const tls = socket instanceof TLSSocket ? socket : undefined;
  return {
    ...Object.fromEntries(said),
    certificate: tls?.getPeerCertificate().subject?.CN,
    name: Reflect.get(tls ?? {}, 'servername'),
  };
}

interface Api {
  readonly seen: object[];
  readonly port: number;
}

async function startApi(t: Test): Promise<Api> {
  const seen: object[] = [];
  const listener: RequestListener = (request, response) => {
    if (request.url?.startsWith('/api/v1/nodes') === true) seen.push(seenOf(request));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[]}');
  };
  const { port } = await serveApi(t, listener);
  return { seen, port };
}

/** Asks with both, and returns what the server saw of each. */
async function asked(t: Test, { seen, port }: Api, cluster: object, user: object) {
  const path = place(t, config(port, cluster, user));
  const root = dirname(path);
  const args = [
    '--kubeconfig',
    path,
    '--cache-dir',
    join(root, 'cache'),
    'get',
    '--raw',
    '/api/v1/nodes',
  ];
  await promisify(execFile)(kubectl, args, { timeout: DEADLINE_MS });
  using client = new KubeClient(await readPersonsKubeconfig(path, { signal }));
  await client.raw('/api/v1/nodes', limits);
  return seen.splice(0);
}

/** Writes what it is asked to `asked`, and what it was given to standard output. */
const PLUG_IN = `#!/bin/sh
printf '%s\\n' "$KUBERNETES_EXEC_INFO" >> "$(dirname "$0")/asked"
printf '%s' "$CREDENTIAL"
`;

/** Places a kubeconfig, and what those of this file name beside it; returns its path. */
function place(t: Test, text: string): string {
  const root = t.testdir({
    config: text,
    'ca.pem': servingAuthority,
    token: ' from-file\n',
    'c.pem': person.certificate,
    'k.pem': person.key,
    'plug-in': PLUG_IN,
    asked: '',
  });
  chmodSync(join(root, 'plug-in'), 0o755);
  return join(root, 'config');
}

/** What a plug-in was told, each time that it was asked. */
const timesAsked = (path: string) =>
  readFileSync(join(dirname(path), 'asked'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const V1 = 'client.authentication.k8s.io/v1';
const plugIn = (status: object, more: object = {}) => ({
  exec: {
    apiVersion: V1,
    command: './plug-in',
    interactiveMode: 'Never',
    env: [
      {
        name: 'CREDENTIAL',
        value: JSON.stringify({ kind: 'ExecCredential', apiVersion: V1, status }),
      },
    ],
    ...more,
  },
});
const inHours = (hours: number) => Math.floor(Date.now() / 1000) + hours * 3600;
const idToken = (hours: number) =>
  ['{"alg":"none"}', `{"exp":${inHours(hours)}}`, 'x']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

const USERS: Readonly<Record<string, object>> = {
  'a certificate inside': {
    'client-certificate-data': base64(person.certificate),
    'client-key-data': base64(person.key),
  },
  'a certificate in files': { 'client-certificate': 'c.pem', 'client-key': 'k.pem' },
  'a token': { token: 'secret' },
  'a token in a file': { tokenFile: 'token' },
  'a certificate and a token': {
    'client-certificate': 'c.pem',
    'client-key': 'k.pem',
    token: 'secret',
  },
  'the right to act for another': {
    token: 'secret',
    as: 'jane',
    'as-groups': ['one', 'two'],
    'as-uid': 'u-1',
    'as-user-extra': { 'example.com/scope': ['a', 'b'] },
  },
  'an ID token': {
    'auth-provider': {
      name: 'oidc',
      config: { 'id-token': idToken(1), 'client-id': 'x', 'idp-issuer-url': 'https://127.0.0.1' },
    },
  },
};

for (const [title, user] of Object.entries(USERS)) {
  t.test(`who asks is the same with ${title}`, async (t) => {
    const api = await startApi(t);
    const [theirs, ours, more] = await asked(t, api, {}, user);
    t.same(ours, theirs);
    t.equal(more, undefined);
  });
}

t.test('the certificate is verified for tls-server-name', async (t) => {
  const api = await startApi(t);
  const server = { server: `https://localhost:${api.port}` };
  using wrong = new KubeClient(
    await readPersonsKubeconfig(place(t, config(api.port, server, { token: 'x' })), { signal }),
  );
  t.match(await thrownBy(wrong.raw('/api/v1/nodes', limits)), { message: /localhost/ });
  const named = { ...server, 'tls-server-name': '127.0.0.1' };
  const [theirs, ours] = await asked(t, api, named, { token: 'secret' });
  t.same(ours, theirs);
});

t.test('a plug-in is told what kubectl tells it, and gives a token or a certificate', async (t) => {
  for (const [status, saw] of [
    [{ token: 'plugged' }, { authorization: 'Bearer plugged' }],
    [
      { clientCertificateData: other.certificate, clientKeyData: other.key },
      { certificate: 'other' },
    ],
  ] as const) {
    const api = await startApi(t);
    const user = plugIn(status, { provideClusterInfo: true });
    const [theirs, ours] = await asked(t, api, {}, user);
    t.match(ours, saw);
    t.same(ours, theirs);
    const [toldByKubectl, told] = timesAsked(join(t.testdirName, 'config'));
    t.same({ ...told.spec.cluster, config: null }, { config: null, ...toldByKubectl.spec.cluster });
    t.match(told, { kind: 'ExecCredential', apiVersion: V1, spec: { interactive: false } });
  }
});

t.test('a plug-in is asked again once its credential has ended', async (t) => {
  const { port, seen } = await startApi(t);
  let nowMs = Date.now();
  const expirationTimestamp = new Date(nowMs + 3_600_000).toISOString();
  const path = place(t, config(port, {}, plugIn({ token: 'first', expirationTimestamp })));
  const now = () => new Date(nowMs);
  using client = new KubeClient(await readPersonsKubeconfig(path, { signal, now }));
  for (const laterMs of [0, 3_500_000, 3_600_000]) {
    nowMs = Date.parse(expirationTimestamp) - 3_600_000 + laterMs;
    await client.raw('/api/v1/nodes', limits);
  }
  t.same(timesAsked(path).length, 2);
  t.same(seen.length, 3);
});

t.test('a token in a file that is replaced is used within a minute', async (t) => {
  const { port } = await startApi(t);
  const path = place(t, config(port, {}, { tokenFile: 'token' }));
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  const { renewed } = await readPersonsKubeconfig(path, { signal });
  t.match(await renewed?.(), { token: 'from-file' });
  writeFileSync(join(dirname(path), 'token'), 'the next one\n');
  mock.timers.tick(61_000);
  t.match(await renewed?.(), { token: 'the next one' });
});

t.test('a watch through SOCKS is not ended because nothing happens', async (t) => {
  const agent = throughProxy('socks5://127.0.0.1:1080')({});
  t.teardown(() => agent.destroy());
  t.equal(Reflect.get(agent, 'timeout'), null, 'the library ends idle connections after it');
});

/** A proxy that connects; every connection is noted. */
async function startProxy(t: Test, kind: 'http' | 'socks5') {
  const connected: string[] = [];
  const splice = (client: Socket, host: string, port: number, greeting: string | Buffer) => {
    connected.push(`${host}:${port}`);
    const server = connect(port, host, () => {
      client.write(greeting);
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) socket.on('error', () => socket.destroy());
  };
  const proxy = kind === 'http' ? createServer() : createTcpServer();
  if (kind === 'http') {
    proxy.on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
      const { hostname, port } = new URL(`http://${url}`);
      splice(client, hostname, Number(port), 'HTTP/1.1 200 OK\r\n\r\n');
    });
  } else {
    // RFC 1928, no authentication, CONNECT to an IPv4 address or a name.
    proxy.on('connection', async (client: Socket) => {
      await once(client, 'data');
      client.write(Buffer.from([5, 0]));
      const [request]: Buffer[] = await once(client, 'data');
      if (request === undefined) return;
      const isName = request[3] === 3;
      const end = isName ? 5 + (request[4] ?? 0) : 8;
      const host = isName
        ? request.subarray(5, end).toString()
        : request.subarray(4, end).join('.');
      splice(client, host, request.readUInt16BE(end), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    });
  }
  return { connected, url: `${kind}://127.0.0.1:${await listening(t, proxy)}` };
}

for (const kind of ['http', 'socks5'] as const) {
  t.test(`requests go through proxy-url, ${kind}`, async (t) => {
    const api = await startApi(t);
    const proxy = await startProxy(t, kind);
    const user = { 'client-certificate': 'c.pem', 'client-key': 'k.pem' };
    const [theirs, ours] = await asked(t, api, { 'proxy-url': proxy.url }, user);
    t.match(ours, { certificate: 'person' });
    t.same(ours, theirs);
    const target = `127.0.0.1:${api.port}`;
    t.same(proxy.connected, [target, target]);
  });
}

const REFUSED: readonly [title: string, cluster: object, user: object, found: RegExp][] = [
  ['no verification', { 'insecure-skip-tls-verify': true }, {}, /cluster c: .*always verifies/s],
  ['HTTP', { server: 'http://127.0.0.1' }, {}, /cluster c: .*https/s],
  ['an authority twice', { 'certificate-authority': 'ca.pem' }, {}, /authority-data is there too/],
  [
    'a key twice',
    {},
    { 'client-key': 'k.pem', 'client-key-data': 'eA==' },
    /key-data is there too/,
  ],
  ['a proxy of another kind', { 'proxy-url': 'ftp://x' }, {}, /socks5/],
  ['a field that nobody knows', { 'tls-servername': 'x' }, {}, /cluster c: .*tls-servername/s],
  ['one of the user', {}, { 'token-file': 'token' }, /user u: .*token-file/s],
  ['a password', {}, { username: 'a', password: 'b' }, /user u: .*no passwords/s],
  ['a provider of a cloud', {}, { 'auth-provider': { name: 'gcp', config: {} } }, /plug-ins/],
  ['groups of nobody', {}, { 'as-groups': ['a'] }, /need "as"/],
  ['a token file that is missing', {}, { tokenFile: 'gone' }, /ENOENT.*gone/],
  [
    'an ID token that has ended',
    {},
    { 'auth-provider': { name: 'oidc', config: { 'id-token': idToken(-1) } } },
    /id-token has ended.*kubectl/,
  ],
  ['a plug-in for a terminal', {}, plugIn({}, { interactiveMode: 'Always' }), /no terminal/],
  ['no plug-in', {}, plugIn({}, { command: 'gone-1', installHint: 'Get it' }), /gone-1.*Get it/s],
  ['a plug-in that fails', {}, plugIn({}, { command: 'false' }), /plug-in false.*exit code 1/],
  ['a plug-in that says nothing', {}, plugIn({}, { command: 'true' }), /ExecCredential/],
  ['a plug-in without a credential', {}, plugIn({}), /neither a token nor a certificate/],
];

for (const [title, cluster, user, found] of REFUSED) {
  t.test(`refused: ${title}`, async (t) => {
    const path = place(t, config(1, cluster, user));
    const error = await thrownBy(readPersonsKubeconfig(path, { signal }));
    t.match(error, { kind: 'usage', message: found });
    t.match(error, { message: path });
  });
}
