import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { generatedDocuments } from '../../../docs/generate.ts';
import { documents, linkedFiles, namedPaths, read, root } from './documents.ts';

t.test('what is made from the code is what the code says now', async (t) => {
  for (const { path, contents } of await generatedDocuments(AbortSignal.timeout(40_000))) {
    t.equal(read(path), contents, `${path}: run node build/launch.mjs docs/generate.ts`);
  }
});

t.test('every link leads to a file', async (t) => {
  for (const document of documents) {
    for (const target of linkedFiles(read(document))) {
      t.ok(existsSync(join(root, dirname(document), target)), `${document} links to ${target}`);
    }
  }
});

t.test('every path of the repository that is named exists', async (t) => {
  for (const document of documents) {
    for (const path of namedPaths(read(document))) {
      t.not(globSync(path, { cwd: root }).length, 0, `${document} names ${path}`);
    }
  }
});

t.test('links and paths are seen', async (t) => {
  t.strictSame(linkedFiles('[a](b.md) [c](https://x.y/z) [d](#e) [f](../g.md#h)'), [
    'b.md',
    '../g.md',
  ]);
  t.strictSame(
    namedPaths(
      '`lib/x.ts` `/opt/lib/x` `manifests/a` `.ci/run` `lab/out/a` `cli/{a,b}/*.ts` `lib`',
    ),
    ['lib/x.ts', '.ci/run', 'cli/{a,b}/*.ts'],
  );
});

t.test('every document can be reached from the README', async (t) => {
  const seen = new Set<string>();
  const follow = (document: string) => {
    if (seen.has(document) || !document.endsWith('.md')) return;
    seen.add(document);
    for (const target of linkedFiles(read(document))) follow(join(dirname(document), target));
  };
  follow('README.md');
  t.strictSame(
    documents.filter((document) => !seen.has(document)),
    [],
  );
});
