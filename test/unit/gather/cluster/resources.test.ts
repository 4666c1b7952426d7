import { readdirSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { identitiesOf } from '../../../../agents/gather/sources/api-access.ts';
import { podLogs } from '../../../../agents/gather/sources/pod-logs.ts';
import { resources } from '../../../../agents/gather/sources/resources.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { read, readAll, testHost } from './host.ts';
import { adminKubeconfig, serveApi } from './serve-api.ts';

const { kubeconfigs, gather } = accessTo('kubernetes');
const { signal } = new AbortController();

/** An API that serves these kinds. */
function answer(kinds: Readonly<Record<string, readonly string[]>>, asked: string[] = []) {
  return ({ url = '', headers }: IncomingMessage, response: ServerResponse) => {
    asked.push(`${url.split('?')[0]} ${headers.accept}`);
    const path = url.split('?')[0] ?? '';
    const found = kinds[path.replace(/^\/apis?\//, '')];
    const list = Object.entries(kinds).some(([apiVersion, plurals]) =>
      plurals.some(
        (plural) => path === `/api${apiVersion === 'v1' ? '' : 's'}/${apiVersion}/${plural}`,
      ),
    );
    if (found !== undefined) {
      const entry = (name: string) => ({ name, kind: name, namespaced: true, verbs: ['list'] });
      const resources = [...found.map(entry), { ...entry('reviews'), verbs: ['create'] }];
      response.end(JSON.stringify({ resources }));
    } else if (list) {
      const metadata = {
        name: 'a',
        namespace: 'b',
        annotations: {
          'openshift.io/token-secret.value': 'hunter2',
          'openshift.io/owning-component': 'x',
        },
      };
      const items = [{ metadata, spec: { containers: [{ name: 'c' }] } }];
      response.end(JSON.stringify({ kind: 'List', metadata: {}, items }));
    } else if (/^\/(version|livez|openapi)/.test(path)) response.end('{"fine":true}');
    else if (path === '/readyz') response.writeHead(500).end('[-]etcd failed');
    else response.writeHead(404).end();
  };
}

const KINDS = {
  v1: ['pods', 'nodes', 'events', 'configmaps', 'secrets'],
  'config.openshift.io/v1': ['clusterversions', 'dnses', 'infrastructures'],
};

async function live(t: Test, listener: Parameters<typeof serveApi>[1]) {
  const api = await serveApi(t, listener);
  const made = testHost(t, 'live');
  made.write(kubeconfigs.bootstrapAdmin, adminKubeconfig(api.port));
  return { ...made, ...api };
}

t.test("the API's resources are collected by name, and Secrets only by metadata", async (t) => {
  const asked: string[] = [];
  const { host } = await live(t, answer(KINDS, asked));
  const files = await readAll(resources, host);
  t.strictSame([...files.keys()].toSorted(), [
    'resources/api-pods',
    'resources/api/livez.txt',
    'resources/api/readyz.txt',
    'resources/api/version.txt',
    'resources/clusterversion.json',
    'resources/configmaps.json',
    'resources/containers',
    'resources/dnses.config.openshift.io.json',
    'resources/events.json',
    'resources/infrastructures.config.openshift.io.json',
    'resources/masters.list',
    'resources/nodes.json',
    'resources/nodes.list',
    'resources/openapi.json.gz',
    'resources/origin.txt',
    'resources/pods.json',
    'resources/secrets-names-with-annotations.txt',
  ]);
  for (const [path, { failure }] of files) t.equal(failure, undefined, path);
  t.match(files.get('resources/api/readyz.txt')?.text, /^HTTP 500\n\[-\]etcd failed/);
  t.equal(files.get('resources/containers')?.text, '-n b a -c c\n');
  t.match(files.get('resources/origin.txt')?.text, /queried as the bootstrap's administrator/);
  const secrets = asked.filter((request) => request.includes('/secrets'));
  t.match(secrets, [/^\/api\/v1\/secrets application\/json;as=PartialObjectMetadataList;/]);
  t.equal(
    files.get('resources/secrets-names-with-annotations.txt')?.text,
    'NAMESPACE\tNAME\tANNOTATIONS\nb\ta\topenshift.io/token-secret.value openshift.io/owning-component="x"\n',
  );
});

t.test('an API that is busy for a moment is ready; one that hangs then is not', async (t) => {
  const asked = { '/readyz': 0, '/livez': 0 };
  const usual = answer(KINDS);
  const { host } = await live(t, (request, response) => {
    const path = request.url?.split('?')[0];
    if (path !== '/readyz' && path !== '/livez') return usual(request, response);
    asked[path] += 1;
    if (asked[path] === 1) return response.writeHead(500).end('[-]etcd failed');
    if (path === '/readyz') return response.end('[+]etcd ok');
  });
  const files = await readAll(resources, host);
  t.equal(files.get('resources/api/readyz.txt')?.text, '[+]etcd ok\n');
  t.equal(files.get('resources/api/livez.txt')?.text, 'HTTP 500\n[-]etcd failed\n');
  t.same(asked, { '/readyz': 2, '/livez': 2 });
});

t.test('an API that stops: one request detects it, and no further ones are sent', async (t) => {
  const { host, stop } = await live(t, answer(KINDS));
  const sources = await resources.list(host, signal);
  stop();
  const objects = sources.filter(({ path }) => /\.(json|list)$/.test(path));
  t.ok(objects.length > 5);
  const reasons = new Set<string>();
  for (const source of objects) {
    const { text, failure = 'none' } = await read(source, host);
    t.equal(text, '', source.path);
    reasons.add(failure);
  }
  t.match(
    [...reasons],
    [
      // Whether or not it has just gone.
      /^GET \/api\/v1\/configmaps.*(?:ECONNREFUSED|socket hang up)/,
      /^not queried: the API server had stopped answering; found GET \/api\/v1\/configmaps.*(?:ECONNREFUSED|socket hang up)/,
    ],
  );
  t.equal(reasons.size, 2);
});

/** A port that accepts connections and never answers; `accepted` contains them. */
async function blackHole(t: Test) {
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    accepted.push(socket);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, accepted };
}

t.test('a dead API is reported as the reason, and saved objects are used', async (t) => {
  const hole = await blackHole(t);
  const closed = await serveApi(t, () => undefined);
  closed.stop();
  for (const [name, port, withinMs] of [
    ['refused', closed.port, 2000],
    ['no answer', hole.port, 7000],
  ] as const) {
    await t.test(name, async (t) => {
      const { host, write } = testHost(t, 'live');
      write(kubeconfigs.bootstrapAdmin, adminKubeconfig(port));
      write('/opt/openshift/gather/resources/pods.json', '{"items":[]}');
      write('/opt/openshift/gather/resources/configmaps.json', '{}');
      write('/opt/openshift/gather/resources/origin.txt', 'the API\n');
      write('/opt/openshift/gather/resources/pod-logs/ns/pod/c.log', 'x');
      const begun = performance.now();
      const [files, logs] = await Promise.all([readAll(resources, host), readAll(podLogs, host)]);
      t.ok(performance.now() - begun < withinMs, `${performance.now() - begun} ms`);
      t.equal(logs.size, 0);
      t.match(files.get('resources/origin.txt'), {
        text: /saved before the API was stopped/,
        failure: /the API cannot be queried; found as the bootstrap's administrator: GET \/version/,
      });
      t.equal(files.get('resources/pods.json')?.text, '{"items":[]}');
      t.strictSame([...files.keys()].toSorted(), [
        'resources/configmaps.json',
        'resources/origin.txt',
        'resources/pod-logs/ns/pod/c.log',
        'resources/pods.json',
      ]);
    });
  }
  t.equal(hole.accepted.length, 1, 'one request for all groups');
});

t.test('a host without API access and without saved objects', async (t) => {
  const { host } = testHost(t);
  t.strictSame(
    [...(await readAll(resources, host))].map(([path, { text, failure }]) => [path, text, failure]),
    [
      [
        'resources/origin.txt',
        'There are no API objects: the API cannot be queried; found neither a kubeconfig nor the CA of API clients on this host.\n',
        'the API cannot be queried; found neither a kubeconfig nor the CA of API clients on this host',
      ],
    ],
  );
});

t.test('the installed host signs a certificate of ten minutes, in memory', async (t) => {
  const { host, paths, write } = testHost(t);
  const authority = await createAuthority('admin-ca');
  write(gather.ca, 'serving');
  write(gather.signer.certificate, authority.certificate);
  write(gather.signer.key, authority.key);
  // The bootstrap's kubeconfig is for the live host.
  write(kubeconfigs.bootstrapAdmin, adminKubeconfig(1));
  const [identity, ...others] = await identitiesOf(host);
  t.equal(others.length, 0);
  t.match(identity, { name: 'sno-agents:gather', isAdministrator: false });
  const access = await identity?.access();
  const certificate = access?.certificate ?? '';
  t.match(access, { server: new URL('https://127.0.0.1:6443'), ca: 'serving' });
  const facts = inspectCertificate(certificate);
  t.match(facts, {
    subject: { commonName: 'sno-agents:gather', organizations: ['sno-agents:gather'] },
    clientAuth: true,
    serverAuth: false,
  });
  const leftMs = facts.notAfter.getTime() - Date.now();
  t.ok(leftMs > 8 * 60_000 && leftMs <= 10 * 60_000, `${leftMs} ms`);
  t.ok(await isIssuedBy(certificate, authority.certificate));
  const all = readdirSync(paths.root, { recursive: true, encoding: 'utf8' });
  const files = all.filter((name) => statSync(`${paths.root}/${name}`).isFile());
  t.equal(files.length, 4, 'nothing was written');
});

t.test('an authority not valid by this clock, or a missing key, is the reason', async (t) => {
  const { host, write } = testHost(t);
  const old = await createAuthority('admin-ca', 1, new Date('2020-01-01'));
  write(gather.ca, 'serving');
  write(gather.signer.certificate, old.certificate);
  write(gather.signer.key, old.key);
  t.match((await readAll(resources, host)).get('resources/origin.txt')?.failure, /not valid now/);
});
