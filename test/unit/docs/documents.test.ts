import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { generatedDocuments } from '../../../docs/generate.ts';
import { AGENTS } from '../../../lib/engine/agents/table.ts';
import {
  anchorsOf,
  documents,
  folderGuides,
  links,
  namedPaths,
  read,
  root,
  subfolders,
} from './documents.ts';

t.test('generated documents match the code', async (t) => {
  for (const { path, contents } of await generatedDocuments(AbortSignal.timeout(40_000))) {
    t.equal(read(path), contents, `${path}: run node build/launch.mjs docs/generate.ts`);
  }
});

t.test('every link points to a file, and to a heading in it', async (t) => {
  for (const document of documents) {
    for (const { file, anchor } of links(read(document))) {
      const target = file === '' ? document : join(dirname(document), file);
      const exists = t.ok(existsSync(join(root, target)), `${document} links to ${file}`);
      if (exists && anchor !== undefined) {
        t.ok(anchorsOf(read(target)).includes(anchor), `${document} links to ${file}#${anchor}`);
      }
    }
  }
});

t.test('every named path of the repository exists', async (t) => {
  for (const document of documents) {
    for (const path of namedPaths(read(document))) {
      t.not(globSync(path, { cwd: root }).length, 0, `${document} names ${path}`);
    }
  }
});

t.test(
  'every folder of the first floor has a guide, which links to all that is in it',
  async (t) => {
    const first = ['agents', 'bench', 'build', 'cli', 'lab', 'report', 'test', 'units'];
    for (const folder of [...first, ...subfolders('lib').map((room) => `lib/${room}`)]) {
      t.ok(folderGuides.has(folder), `${folder}/README.md`);
    }
    for (const [folder, guide] of folderGuides) {
      const text = read(guide);
      const start = text.indexOf('| Here |');
      if (start === -1) continue;
      const linked = links(text.slice(start)).map(({ file }) => file.split('/')[0]);
      for (const name of subfolders(folder))
        t.ok(linked.includes(name), `${guide} links to ${name}`);
    }
  },
);

t.test('ARCHITECTURE.md names every agent', async (t) => {
  const [, table = ''] = /^## The agents\n([\s\S]*?)^## /m.exec(read('ARCHITECTURE.md')) ?? [];
  const named = Array.from(
    table.matchAll(/`([a-z-]+)`(?=[^|]*\|[^|]*\|[^|]*\|[^|]*\|$)/gm),
    ([, name]) => name,
  );
  t.same(new Set(named), new Set(AGENTS.map(({ name }) => name)));
});

t.test('every plan is on the page of plans', async (t) => {
  const page = read('docs/reference/plans.md');
  for (const plan of globSync('agents/**/plan.ts', { cwd: root })) {
    t.ok(page.includes(`(../../${plan})`), plan);
    const source = read(plan);
    for (const [, name = ''] of source.matchAll(/^export const (\w+Plan)\b/gm)) {
      t.match(read('docs/plans-reference.ts'), new RegExp(`\\b${name}[,(\\]]`), name);
    }
  }
  const headings = Array.from(page.matchAll(/^## ([\w-]+)/gm), ([, name]) => name);
  t.same(
    AGENTS.map(({ name }) => name).filter((name) => !headings.includes(name)),
    ['gather'],
  );
});

t.test('links, anchors and paths are recognised', async (t) => {
  t.strictSame(links('[a](b.md) [c](https://x.y/z#e) [d](#e) [f](../g.md#h)'), [
    { file: 'b.md', anchor: undefined },
    { file: '', anchor: 'e' },
    { file: '../g.md', anchor: 'h' },
  ]);
  t.strictSame(
    anchorsOf('# A `b.ts`, c-d!\n## Same\n```sh\n# comment\n```\n### Same\ntext\n## what_is é'),
    ['a-bts-c-d', 'same', 'same-1', 'what_is-é'],
  );
  t.strictSame(
    namedPaths(
      '`lib/x.ts` `/opt/lib/x` `manifests/a` `.ci/run` `lab/out/a` `report/{a,b}/*.ts` `lib` `dist/a`',
    ),
    ['lib/x.ts', '.ci/run', 'report/{a,b}/*.ts'],
  );
});

t.test('every document can be reached from the README', async (t) => {
  const seen = new Set<string>();
  const follow = (document: string) => {
    if (seen.has(document) || !document.endsWith('.md')) return;
    seen.add(document);
    for (const { file } of links(read(document)).filter(({ file }) => file !== '')) {
      follow(join(dirname(document), file));
    }
  };
  follow('README.md');
  t.strictSame(
    documents.filter((document) => !seen.has(document)),
    [],
  );
});
