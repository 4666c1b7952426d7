import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import {
  deferredFile,
  deferredFolder,
  deferredGroups,
  readDeferred,
} from '../../../../lib/cluster/deferred/manifests.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

const object = (apiVersion: string, name: string) =>
  `{"apiVersion":"${apiVersion}","kind":"Till","metadata":{"name":"${name}"}}`;

async function host(t: Test, files: Record<string, string>) {
  const paths = hostPaths(t.testdir());
  await mkdir(deferredFolder(paths), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(deferredFolder(paths), name), text);
  }
  return paths;
}

t.test('the folder is part of the configuration', async (t) => {
  t.equal(deferredFolder({ config: '/etc/sno-agents' }), '/etc/sno-agents/deferred');
});

t.test('they are read in name order, with their groups', async (t) => {
  const paths = await host(t, {
    '0010.till.a.json': object('b.com/v1', 'a'),
    '0002.till.b.json': object('a.com/v1', 'b'),
    '0003.till.c.json': object('b.com/v2', 'c'),
  });
  const deferred = await readDeferred(paths);
  t.same(
    deferred.map(({ key, path, manifest }) => ({ key, path, name: manifest.name })),
    [
      { key: '0002.till.b', path: `${paths.config}/deferred/0002.till.b.json`, name: 'b' },
      { key: '0003.till.c', path: `${paths.config}/deferred/0003.till.c.json`, name: 'c' },
      { key: '0010.till.a', path: `${paths.config}/deferred/0010.till.a.json`, name: 'a' },
    ],
  );
  t.same(deferredGroups(deferred), ['a.com', 'b.com']);
  t.same(await readDeferred(hostPaths(join(t.testdir(), 'nothing'))), []);
});

t.test('the groups are sorted, without duplicates', async (t) => {
  const deferred = ['b.com/v1', 'a.com/v1', 'b.com/v2'].flatMap((apiVersion, at) =>
    decodeManifests('x', object(apiVersion, `${at}`)).manifests.map((manifest) => ({
      key: '',
      path: '',
      manifest,
    })),
  );
  t.same(deferredGroups(deferred), ['a.com', 'b.com']);
});

t.test('a file is named by position and object, and contains the object', async (t) => {
  const file = (position: number, metadata: string) => {
    const text = `{apiVersion: a.com/v1, kind: TillDrawer, metadata: ${metadata}}`;
    const [manifest] = decodeManifests('x', text).manifests;
    return manifest && deferredFile(manifest, position);
  };
  t.same(file(12, '{name: a, namespace: shop}'), {
    name: '0012.tilldrawer.shop.a.json',
    contents: `{
  "apiVersion": "a.com/v1",
  "kind": "TillDrawer",
  "metadata": {
    "name": "a",
    "namespace": "shop"
  }
}
`,
  });
  t.equal(file(12345, '{name: "A/b_c.d-e 9:0"}')?.name, '12345.tilldrawer.A-b-c.d-e-9-0.json');
  const long = file(1, `{name: ${'n'.repeat(300)}}`)?.name;
  t.equal(long, `0001.tilldrawer.${'n'.repeat(109)}.json`, 'at most 120 characters of it');
});

const WRONG: Readonly<Record<string, [files: Record<string, string>, says: RegExp]>> = {
  'of a built-in group': [
    { 'a.json': object('rbac.authorization.k8s.io/v1', 'a') },
    /a\.json: rbac\.authorization\.k8s\.io\/v1 is never deferred/,
  ],
  'of every group': [{ 'a.json': object('*/v1', 'a') }, /\*\/v1/],
  'several in a file': [
    { 'a.json': `${object('a.com/v1', 'a')}\n---\n${object('a.com/v1', 'b')}` },
    /a\.json: more than one manifest$/,
  ],
  'no manifest': [{ 'a.json': '{' }, /a\.json/],
  'the same twice': [
    { 'a.json': object('a.com/v1', 'a'), 'b.json': object('a.com/v1', 'a') },
    /b\.json: the same object as in .*a\.json/,
  ],
};
for (const [name, [files, says]] of Object.entries(WRONG)) {
  t.test(`refused: ${name}`, async (t) => {
    await t.rejects(readDeferred(await host(t, files)), { kind: 'fatal', message: says });
  });
}
