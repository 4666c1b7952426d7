import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hostPaths } from '../../../lib/host/paths.ts';
import { installedHost, liveHost } from '../../../lib/render/hosts.ts';
import {
  filesArePlaced,
  loadIdentity,
  loadRendered,
  loadRenderedFor,
  placeFiles,
  podOfRole,
  saveRendered,
} from '../../../lib/render/store.ts';
import { host, rendered, textAt } from './rendered-host.ts';

const identity = { hostname: host.hostname, nodeIps: host.nodeIps };

t.test('what was rendered is loaded unchanged, for the same input only', async (t) => {
  const paths = hostPaths(t.testdir());
  await saveRendered(paths, 'input', host, rendered);
  t.same(await loadRendered(paths), rendered);
  t.same(await loadRenderedFor(paths, 'input'), rendered);
  t.equal(await loadRenderedFor(paths, 'another'), undefined);
  t.same(await loadIdentity(paths), identity);
  const file = join(paths.assets, 'rendered.json');
  t.equal(statSync(file).mode & 0o777, 0o600);
  // Not the host's other facts: some may change at a reboot.
  t.same(JSON.parse(readFileSync(file, 'utf8')).identity, identity);
});

t.test('without a store the error names the step render', async (t) => {
  const paths = hostPaths(t.testdir());
  t.equal(await loadRenderedFor(paths, 'input'), undefined);
  const failure = { kind: 'fatal', message: /rendered\.json does not exist.*step render/ };
  await t.rejects(loadRendered(paths), failure);
  await t.rejects(loadIdentity(paths), failure);
});

const file = { path: '/etc/x', mode: 0o600, contents: 'x' };
const none = { directories: [], files: [], staticPods: [], leases: [], manifests: [] };
for (const [name, text, found] of [
  [
    'of an older version',
    { input: 'input', identity, rendered: none },
    /rendered\.json cannot be used[\s\S]*found schemaVersion: /,
  ],
  [
    'with stages in place of uses',
    {
      schemaVersion: 2,
      input: 'input',
      identity,
      rendered: { ...none, files: [{ ...file, stage: 'live' }] },
    },
    /rendered\.json cannot be used[\s\S]*files\[0\]\.uses/,
  ],
  [
    'of a newer version',
    { schemaVersion: 3, input: 'input', identity, rendered: none },
    /rendered\.json cannot be used[\s\S]*found schemaVersion: /,
  ],
  ['that is cut', '{"schemaVersion":2,', /rendered\.json cannot be used[\s\S]*found no JSON/],
] as const) {
  t.test(`a store ${name} is rejected by every reader and kept`, async (t) => {
    const paths = hostPaths(t.testdir({ opt: { openshift: {} } }));
    const path = join(paths.assets, 'rendered.json');
    const contents = typeof text === 'string' ? text : JSON.stringify(text);
    writeFileSync(path, contents);
    const expected = { kind: 'fatal', message: found };
    await t.rejects(loadRendered(paths), expected);
    await t.rejects(loadIdentity(paths), expected);
    await t.rejects(loadRenderedFor(paths, 'input'), expected);
    t.equal(readFileSync(path, 'utf8'), contents, 'its keys may be in use');
  });
}

t.test('a host gets its files with their modes, and no others', async (t) => {
  const paths = hostPaths(t.testdir());
  t.notOk(await filesArePlaced(paths, liveHost, rendered.files));
  await placeFiles(paths, liveHost, rendered);
  t.ok(await filesArePlaced(paths, liveHost, rendered.files));
  t.notOk(await filesArePlaced(paths, installedHost, rendered.files));
  const mode = (path: string) => statSync(paths.at(path)).mode & 0o777;
  for (const [path, expected] of [
    ['/etc/kubernetes', 0o755],
    ['/etc/kubernetes/pki', 0o700],
    ['/var/lib/etcd', 0o700],
    ['/etc/kubernetes/pki/ca/admin/ca.key', 0o600],
    ['/etc/kubernetes/pki/ca/admin/ca.crt', 0o644],
  ] as const) {
    t.equal(mode(path), expected, path);
  }
  t.throws(() => statSync(paths.at('/var/lib/kubelet/kubeconfig')), { code: 'ENOENT' });

  writeFileSync(paths.at('/etc/kubernetes/pki/etcd/ca.crt'), 'changed');
  t.notOk(await filesArePlaced(paths, liveHost, rendered.files));
  await placeFiles(paths, liveHost, rendered);
  t.equal(
    readFileSync(paths.at('/etc/kubernetes/pki/etcd/ca.crt'), 'utf8'),
    textAt('/etc/kubernetes/pki/etcd/ca.crt'),
  );
});

t.test('the mode of an existing folder is corrected', async (t) => {
  const paths = hostPaths(t.testdir());
  mkdirSync(paths.at('/etc/kubernetes/pki'), { recursive: true, mode: 0o755 });
  await placeFiles(paths, liveHost, rendered);
  t.equal(statSync(paths.at('/etc/kubernetes/pki')).mode & 0o777, 0o700);
});

t.test('a missing role is an error that names it', async (t) => {
  t.equal(podOfRole(rendered, 'database').component, 'etcd');
  t.throws(() => podOfRole({ staticPods: [] }, 'api-server'), {
    kind: 'fatal',
    message: /role api-server/,
  });
});
