import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { apiObjects, objectsFolder } from '../../../agents/bootkube/api-objects.ts';
import { createAuthority } from '../../../lib/pki/authority.ts';
import { kubeconfig } from '../../../lib/pki/kubeconfig.ts';
import { issueLeaf } from '../../../lib/pki/leaf.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { liveHost } from './live-host.ts';

const authority = await createAuthority('kube-apiserver-serving-ca');
const [server, admin] = await Promise.all([
  issueLeaf(authority, {
    subject: { commonName: 'kube-apiserver' },
    usage: 'server',
    ipAddresses: ['127.0.0.1'],
  }),
  issueLeaf(authority, { subject: { commonName: 'admin' }, usage: 'client' }),
]);
const ADMIN_KUBECONFIG = accessTo('kubernetes').kubeconfigs.bootstrapAdmin;

/** A live host whose API is this listener. */
async function host(t: Test, listener: RequestListener) {
  const api = createServer({ cert: server.certificate, key: server.key }, listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  api.listen(0, '127.0.0.1', resolve);
  await promise;
  t.teardown(() => {
    api.closeAllConnections();
    api.close();
  });
  const address = api.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const live = liveHost(t.testdir());
  live.write(
    live.paths.at(ADMIN_KUBECONFIG),
    kubeconfig({
      server: `https://127.0.0.1:${address.port}`,
      cluster: 'edge',
      user: 'admin',
      credentials: { kind: 'embedded', authority: authority.certificate, ...admin },
    }),
  );
  return live;
}

const list = '{"kind":"List","items":[{"metadata":{"name":"a"}}]}';

t.test('every collection is saved, and Secrets are never asked for', async (t) => {
  const asked: string[] = [];
  const { context, progress } = await host(t, ({ url = '' }, answer) => {
    asked.push(url);
    answer.end(list);
  });
  const outcome = await apiObjects.run(context, progress());
  const files = readdirSync(objectsFolder(context));
  t.same(outcome, { kind: 'done', note: `${files.length} collections` });
  for (const name of ['pods', 'nodes', 'events', 'configmaps', 'csr']) {
    const path = join(objectsFolder(context), `${name}.json`);
    t.same(JSON.parse(readFileSync(path, 'utf8')), JSON.parse(list), name);
    t.equal(statSync(path).mode & 0o777, 0o600, name);
  }
  t.equal(asked.length, files.length);
  t.notMatch(asked.join(), /secret/i);
});

t.test('a collection that fails leaves its reason and is passed over', async (t) => {
  const { context, lines, progress } = await host(t, ({ url = '' }, answer) => {
    if (url.endsWith('/events')) answer.writeHead(500);
    answer.end(list);
  });
  const outcome = await apiObjects.run(context, progress());
  const files = readdirSync(objectsFolder(context));
  t.same(outcome, { kind: 'done', note: `${files.length - 1} collections` });
  const reason = readFileSync(join(objectsFolder(context), 'events.json'), 'utf8');
  t.match(JSON.parse(reason), { path: '/api/v1/events', error: /500/ });
  t.match(lines.join(''), /Not in the bundle: .*events/);
});

t.test('an API that cannot be asked fails nothing', async (t) => {
  const { context, paths, lines, progress } = await host(t, (_, answer) => void answer.end(list));
  writeFileSync(paths.at(ADMIN_KUBECONFIG), 'not a kubeconfig');
  t.match(await apiObjects.run(context, progress()), { kind: 'done', note: /^none: / });
  t.ok(await apiObjects.holds(context, progress()), 'the step is done without objects');
  t.match(lines.join(''), /The API cannot be asked for its objects/);
});

t.test('a folder that cannot be written fails nothing', async (t) => {
  const { context, paths, progress } = await host(t, (_, answer) => void answer.end(list));
  // A file where the folder should be.
  writeFileSync(paths.at('/opt'), '');
  t.same(await apiObjects.run(context, progress()), { kind: 'done', note: '0 collections' });
});

t.test('an agent that is told to stop does not call the step done', async (t) => {
  const { context, progress } = await host(t, () => undefined);
  const reason = new Error('told to stop');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 100);
  await t.rejects(apiObjects.run(context, progress(stop.signal)), reason);
});
