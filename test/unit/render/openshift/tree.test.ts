import { chmodSync, existsSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  applyCopies,
  copyInstallerFiles,
  filesBelow,
  makeView,
} from '../../../../lib/render/openshift/tree.ts';
import { readText, writeFiles } from './fake-podman.ts';

const stageWith = (
  name: string,
  ...copies: Parameters<typeof applyCopies>[0]['copies'][number][]
) => ({
  name,
  image: name,
  command: [],
  needs: [],
  makes: [],
  copies,
});

function treeIn(t: Test) {
  const folder = t.testdir();
  return { folder, tree: { assets: join(folder, 'assets'), host: join(folder, 'host') } };
}

t.test('folders into folders, files to files, on the host if the path is absolute', async (t) => {
  const { folder, tree } = treeIn(t);
  const results = join(folder, 'results');
  writeFiles(results, { 'out/a.yaml': 'a', 'out/sub/b.yaml': 'b', config: 'c' });
  const stage = stageWith(
    's',
    { from: 'out', to: 'manifests' },
    { from: 'config', to: '/etc/x/config.yaml' },
    { shared: 'manifests', to: '/etc/all' },
    { from: 'none', to: 'manifests', optional: true },
  );
  await applyCopies(stage, results, tree);
  t.same(await filesBelow(tree.assets), ['manifests/a.yaml', 'manifests/sub/b.yaml']);
  t.same(await filesBelow(tree.host), [
    'etc/all/a.yaml',
    'etc/all/sub/b.yaml',
    'etc/x/config.yaml',
  ]);
});

t.test('a missing result is an error that names the stage', async (t) => {
  const { folder, tree } = treeIn(t);
  writeFiles(folder, { 'results/other': '' });
  const stage = stageWith('s', { from: 'out', to: 'manifests' });
  await t.rejects(applyCopies(stage, join(folder, 'results'), tree), {
    kind: 'retry',
    code: 'render-failed',
    message: /the stage s has not rendered out; expected files for manifests/,
  });
});

t.test('the later stage in the table wins', async (t) => {
  const { folder, tree } = treeIn(t);
  writeFiles(folder, { 'installer/x': 'installer', 'one/x': 'one', 'two/x': 'two' });
  const copy = { from: 'x', to: 'x' };
  const before = ['one', 'two'].map((name) => ({
    stage: stageWith(name, copy),
    results: join(folder, name),
  }));
  await makeView(join(folder, 'installer'), before, tree);
  t.equal(readText(join(tree.assets, 'x')), 'two');
});

t.test('links that a container made are not followed', async (t) => {
  const { folder, tree } = treeIn(t);
  const results = join(folder, 'results');
  writeFiles(results, { 'out/a': 'a' });
  symlinkSync('/etc/hostname', join(results, 'out/link'));
  const stage = stageWith('s', { from: 'out', to: 'manifests' });
  await t.rejects(applyCopies(stage, results, tree), {
    kind: 'fatal',
    message: /out\/link is not a regular file/,
  });
  symlinkSync('/etc/hostname', join(results, 'single'));
  const single = stageWith('s', { from: 'single', to: 'manifests/single' });
  await t.rejects(applyCopies(single, results, tree), { kind: 'fatal', message: /single is not/ });
  symlinkSync('/etc', join(results, 'folder'));
  const linked = stageWith('s', { from: 'folder', to: 'manifests' });
  await t.rejects(applyCopies(linked, results, tree), { kind: 'fatal', message: /folder is not/ });
});

t.test('what openshift-install wrote, with its modes; its folder is not changed', async (t) => {
  const { folder } = treeIn(t);
  const assets = join(folder, 'opt');
  writeFiles(assets, {
    'manifests/a.yaml': 'a',
    'openshift/b.yaml': 'b',
    'tls/k.key': 'k',
    'auth/kubeconfig': 'c',
    'master.ign': 'not this',
  });
  chmodSync(join(assets, 'tls/k.key'), 0o600);
  const target = join(folder, 'work');
  await copyInstallerFiles({ assets }, 'references', target);
  t.same(await filesBelow(target), [
    'auth/kubeconfig',
    'image-references',
    'manifests/a.yaml',
    'manifests/b.yaml',
    'openshift/b.yaml',
    'tls/k.key',
  ]);
  t.equal(statSync(join(target, 'tls/k.key')).mode & 0o777, 0o600);
  t.equal(readText(join(target, 'image-references')), 'references');
  t.notOk(existsSync(join(assets, 'manifests/b.yaml')));
});
