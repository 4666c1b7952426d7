import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { deferredFolder, deferredGroups, readDeferred } from '../../../lib/deferred/manifests.ts';
import { hostPaths } from '../../../lib/host/paths.ts';

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

t.test('they are read in the order of their names, with their groups', async (t) => {
  const deferred = await readDeferred(
    await host(t, {
      '0010.till.a.json': object('b.com/v1', 'a'),
      '0002.till.b.json': object('a.com/v1', 'b'),
      '0003.till.c.json': object('b.com/v2', 'c'),
    }),
  );
  t.same(
    deferred.map(({ key }) => key),
    ['0002.till.b', '0003.till.c', '0010.till.a'],
  );
  t.same(deferredGroups(deferred), ['a.com', 'b.com']);
  t.same(await readDeferred(hostPaths(join(t.testdir(), 'nothing'))), []);
});

const WRONG: Readonly<Record<string, [files: Record<string, string>, says: RegExp]>> = {
  'of a built-in group': [
    { 'a.json': object('rbac.authorization.k8s.io/v1', 'a') },
    /a\.json: rbac\.authorization\.k8s\.io\/v1 is served from the beginning/,
  ],
  'of every group': [{ 'a.json': object('*/v1', 'a') }, /\*\/v1/],
  'several in a file': [
    { 'a.json': `${object('a.com/v1', 'a')}\n---\n${object('a.com/v1', 'b')}` },
    /a\.json: several/,
  ],
  'no manifest': [{ 'a.json': '{' }, /a\.json/],
  'the same twice': [
    { 'a.json': object('a.com/v1', 'a'), 'b.json': object('a.com/v1', 'a') },
    /b\.json: a duplicate/,
  ],
};
for (const [name, [files, says]] of Object.entries(WRONG)) {
  t.test(`refused: ${name}`, async (t) => {
    await t.rejects(readDeferred(await host(t, files)), { kind: 'fatal', message: says });
  });
}
