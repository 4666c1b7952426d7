import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { z } from 'zod';
import { bundle, bundleWithInputs } from '../../../build/bundle.ts';
import { lazyImports } from '../../../build/lazy-imports.ts';
import { createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import { root } from '../../unit/structure/source.ts';
import { images, skipWithout } from '../media/images.ts';

/** Maximum sizes in bytes, slightly above the current sizes. Look at the report before raising one. */
const PROGRAMS = {
  'agents/main.ts': 5_800_000,
  // 1.8 MB of it are the client of people's kubeconfigs, loaded by commands that read one.
  'cli/main.ts': 5_400_000,
};
const LARGEST_SHOWN = 12;

const lock = z
  .object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
  .parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));

/** The folder below node_modules of an input; undefined for this project's files. */
const packageOf = (path: string) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];

for (const [entry, budget] of Object.entries(PROGRAMS)) {
  t.test(`${entry} contains what it uses and no more`, async (t) => {
    const { code, bytesByInput } = await bundleWithInputs({
      entry: join(root, entry),
      constants: {},
    });
    const sizes = new Map<string, number>();
    for (const [path, bytes] of Object.entries(bytesByInput)) {
      const name = packageOf(path);
      if (name !== undefined) sizes.set(name, (sizes.get(name) ?? 0) + bytes);
    }
    const largest = [...sizes].toSorted(([, a], [, b]) => b - a).slice(0, LARGEST_SHOWN);
    const report = largest.map(([name, bytes]) => `${bytes} ${name}`).join(', ');
    t.ok(code.length <= budget, `${code.length} of ${budget} bytes; largest: ${report}`);

    const tools = [...sizes.keys()].filter((name) => lock.packages[name]?.dev !== undefined);
    t.strictSame(tools, [], 'nothing that package.json calls a development dependency');
    const others = /zod\/.*\/locales\/(?!en\.|index\.)/;
    const languages = Object.keys(bytesByInput).filter((path) => others.test(path));
    t.strictSame(languages, [], "no messages in the world's other languages");
    t.ok(
      code.every((byte) => byte < 0x80),
      'ASCII, which an executable need not decode',
    );
    t.notMatch(code.toString(), root, 'no path of this machine');
  });
}

/** Runs a bundle of one module and returns what it exports. */
function exportsOf(code: Buffer): Record<string, unknown> {
  const module = { exports: {} };
  new Function('module', 'exports', 'require', code.toString())(module, module.exports, () => ({}));
  return module.exports;
}

t.test('a module is evaluated on first use', async (t) => {
  const folder = t.testdir({
    'trace.ts': 'export const trace: string[] = [];',
    'heavy.ts': `import { trace } from './trace.ts';
      trace.push('heavy');
      export const value = 7;
      export class Thing { readonly value = value; }`,
    'main.ts': `import { Thing, value as renamed } from './heavy.ts';
      import * as all from './heavy.ts';
      import { trace } from './trace.ts';
      export const seen = () => trace.join();
      export const use = () => new Thing().value + renamed + all.value;`,
  });
  const main = exportsOf(await bundle({ entry: join(folder, 'main.ts'), constants: {} }));
  const call = (name: string) => {
    const value = main[name];
    return typeof value === 'function' ? value() : undefined;
  };
  t.equal(call('seen'), '', 'not when the importing module is evaluated');
  t.equal(call('use'), 21);
  t.equal(call('seen'), 'heavy', 'once, with its use');
});

t.test('the daily look at dates does not load the X.509 library', async (t) => {
  const folder = t.testdir({});
  const entry = join(folder, 'main.ts');
  const program = join(folder, 'main.cjs');
  await writeFile(
    entry,
    `import { needsRenewal } from '${relative(folder, join(root, 'lib/pki/leaf.ts'))}';
    const isDue = needsRenewal(process.argv[2] ?? '', new Date());
    process.stdout.write(JSON.stringify({ isDue, isLoaded: 'getMetadata' in Reflect }));`,
  );
  await writeFile(program, await bundle({ entry, constants: {} }));
  const { servingCa } = await createLaptopAuthorities();
  const { stdout } = await execa(process.execPath, [program, servingCa.certificate]);
  t.ok('getMetadata' in Reflect, 'the library adds this to a process that loads it');
  t.strictSame(JSON.parse(stdout), { isDue: false, isLoaded: false });
});

const withoutMtools = await skipWithout('mformat', 'mcopy');
t.test(
  'the agents read a medium without the folder of packages',
  { skip: withoutMtools },
  async (t) => {
    const folder = t.testdir({ files: { 'site-config.yaml': 'api_version: 1\n' } });
    const [program, image] = [join(folder, 'agents.cjs'), join(folder, 'medium.img')];
    await writeFile(program, await bundle({ entry: join(root, 'agents/main.ts'), constants: {} }));
    images.vfat(join(folder, 'files'), image);
    const read = [program, 'reconfigure', 'read-medium', 'vfat', image];
    const { stdout } = await execa(process.execPath, read, { timeout: 60_000 });
    t.match(stdout, 'site-config.yaml');
    t.match(stdout, 'api_version: 1');
  },
);

t.test('messages of schemas are kept', async (t) => {
  const folder = t.testdir({
    'main.ts': `import { z } from 'zod';
      export const result = z.object({ a: z.string() }).safeParse({ a: 1 }).error?.issues[0]?.message;`,
    node_modules: t.fixture('symlink', join(root, 'node_modules')),
  });
  const { result } = exportsOf(await bundle({ entry: join(folder, 'main.ts'), constants: {} }));
  t.equal(result, 'Invalid input: expected string, received number');
});

t.test('an import lists the names it uses of a package', async (t) => {
  const cases: [source: string, required: string][] = [
    [`import { a, b as c } from 'x'; a(c);`, 'used:a,b:x'],
    [`import one from 'x'; one();`, 'used:default:x'],
    [`import * as all from 'x'; all.a(all.b);`, 'used:a,b:x'],
    [`import { z } from 'zod'; z.string().parse(z.core);`, 'used:string,core:zod'],
    [`import * as all from 'x'; f(all);`, 'x'],
    [`import * as all from 'x'; all[name];`, 'x'],
    [`import 'x';`, 'x'],
    [`import { a } from 'node:fs'; a();`, 'node:fs'],
    [`import { a } from './a.ts'; a();`, './a.ts'],
  ];
  for (const [source, required] of cases) {
    t.match(await lazyImports(source), `require("${required}")`, source);
  }
});

t.test('an executable of one agent contains nothing of the others', async (t) => {
  const table = `import { runA } from './a.ts'; import { runB, runC } from './b.ts';
    export const agents = { a: runA, 'b-b': runB, c: runC };`;
  const code = await lazyImports(table, { object: 'agents', property: 'b-b' });
  t.match(code, './b.ts');
  t.notMatch(code, './a.ts');
  t.notMatch(code, 'runC');
  await t.rejects(lazyImports(table, { object: 'agents', property: 'd' }), /no property d/);

  const one = await bundleWithInputs({
    entry: join(root, 'agents/main.ts'),
    constants: {},
    agent: 'sno-payload',
  });
  t.notOk(one.sources.some((path) => path.includes('/agents/bootkube/')));
});
