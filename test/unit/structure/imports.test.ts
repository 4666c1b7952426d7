import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { type Import, importsOf, parseImports, root, sourcesIn, wayTo } from './source.ts';

/** The rooms of `lib/`, lowest first: a file imports its own room and those before it, nothing else of `lib/`. */
const ROOMS = [
  'base',
  'host',
  'pki',
  'secrets',
  'clients',
  'config',
  'engine',
  'payload',
  'render',
  'cluster',
  'change',
  'relocation',
];

/** Forbidden imports: paths from the root, `$1` is the first group of `from`. */
const FORBIDDEN = [
  {
    why: 'agents share through agents/steps/ and lib/',
    from: /^agents\/(?!steps\/)((?:(?:upkeep|commands)\/)?[^/]+)\/.+/,
    to: /^agents\/(?!$1\/|steps\/)/,
  },
  {
    why: 'a step that several plans use belongs to none of them',
    from: /^agents\/steps\//,
    to: /^agents\/(?!steps\/)/,
  },
  { why: 'a bundle is read without the host', from: /^report\//, to: /^(agents|cli|units)\// },
  { why: 'lib/ knows nothing of its users', from: /^lib\//, to: /^(agents|cli|units|report)\// },
  { why: 'the command line runs on a laptop', from: /^cli\//, to: /^agents\// },
  {
    why: 'hosts get no tools',
    from: /^(?:agents|report|lib|cli)\//,
    to: /^(lab|build|bench|test)\//,
  },
  { why: 'tests are imported by tests', from: /^(?!test\/)/, to: /^test\// },
];

/** Modules that only decide and compute; effects belong to their callers. Each pattern matches a file. */
const PURE = [
  'report/{rules,reading,timeline}/*.ts',
  'report/{causes,findings,first-errors,host-facts,state,summary}.ts',
  'lib/cluster/csr/{checks,judge,judge-worker,requested-certificate}.ts',
  'lib/clients/rights/*.ts',
  'lib/cluster/workers/entry.ts',
  'lib/change/identity/{changes,identity,objects,replacements}.ts',
  'lib/secrets/bytes/*.ts',
  'lib/secrets/scan/base64.ts',
  'lib/render/ignition/combine.ts',
  'lib/render/ignition/data-url.ts',
  'lib/render/ignition/merge.ts',
  'lib/render/ignition/validate.ts',
  'lib/base/log/{line,redact}.ts',
  'lib/base/network/*.ts',
  'lib/secrets/redact/*.ts',
  'lib/render/kubernetes/**/*.ts',
  'lib/render/machine-config/**/*.ts',
  'cli/install-config/**/*.ts',
  'lib/config/file/*.ts',
  'lib/config/site-config/*.ts',
  'lib/config/site/**/*.ts',
  'lib/config/topology/*.ts',
  'cli/explain/{config-inputs,options,text}.ts',
  'lib/engine/steps/{deadline,fingerprint}.ts',
  'lib/base/errors/*.ts',
  'lib/engine/agents/*.ts',
];

/** Pure modules of Node: all others, and the packages below, reach outside the process. */
const HARMLESS_NODE = ['assert', 'buffer', 'crypto', 'path', 'url', 'util', 'zlib', 'events'];
/** The part of node:net that only handles text. */
const HARMLESS_NET = ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress'];
const EFFECTFUL_PACKAGES = /^(execa|chokidar|pino|listr2|undici|@grpc\/|@kubernetes\/client-node)/;

function isEffect({ target, names }: Pick<Import, 'target' | 'names'>): boolean {
  if (target === 'node:net' && names.length > 0) {
    return !names.every((name) => HARMLESS_NET.includes(name));
  }
  const name = target.replace(/^node:/, '');
  const [module = ''] = name.split('/');
  if (builtinModules.includes(name)) return !HARMLESS_NODE.includes(module);
  return EFFECTFUL_PACKAGES.test(target);
}

const sources = sourcesIn('{agents,report,lib,cli,units,build,lab,bench,test}/**/*.ts');

t.test('every import goes in an allowed direction', async (t) => {
  for (const { why, from, to } of FORBIDDEN) {
    const found = sources.flatMap((file) => {
      const match = from.exec(file);
      if (match === null) return [];
      const forbidden = new RegExp(to.source.replace('$1', match[1] ?? ''));
      return importsOf(file)
        .filter(({ target, isLocal }) => isLocal && forbidden.test(target))
        .map(({ target }) => `${file} -> ${target}`);
    });
    t.strictSame(found, [], why);
  }
});

t.test('rooms of lib/ import those below them', async (t) => {
  const files = sourcesIn('lib/**/*.ts');
  const floorOf = (file: string) => ROOMS.indexOf(file.split('/')[1] ?? '');
  t.same(new Set(files.map((file) => file.split('/')[1])), new Set(ROOMS), 'the list is complete');
  const upwards = files.flatMap((file) =>
    importsOf(file)
      .filter(({ target, isLocal }) => isLocal && floorOf(target) > floorOf(file))
      .map(({ target }) => `${file} -> ${target}`),
  );
  t.same(upwards, []);
});

t.test('ARCHITECTURE.md lists the rooms in this order', async (t) => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = Array.from(
    text.matchAll(/^\| \[\w+\]\(lib\/(\w+)\/README\.md\)/gm),
    ([, room]) => room,
  );
  t.same(rows, ROOMS);
});

t.test('pure modules have no effects, not even through their imports', async (t) => {
  for (const pattern of PURE) {
    const files = sourcesIn(pattern);
    t.not(files.length, 0, `${pattern} matches a file`);
    const ways = files.flatMap((file) => wayTo(isEffect, file)?.join(' -> ') ?? []);
    t.strictSame(ways, [], pattern);
  }
});

/** Whatever else is written there quotes names of others, and would have a terminal interpret them. */
const WRITES_TO_TERMINAL: Readonly<Record<string, string>> = {
  'lib/base/command-line.ts': 'the one place where texts lose what a terminal interprets',
  'lib/base/end-process.ts': 'no text: it waits until all is taken',
  'lib/base/log/logger.ts': 'lines of loggedLine',
  'lib/base/log/agent-log.ts': 'lines of loggedLine',
  'cli/main.ts': 'given to cli/process/output.ts, which does the same',
  'agents/gather/main.ts': 'also the bundle, and progress of its own in one line',
  'agents/reconfigure/read-medium.ts': 'an archive for another process',
  'lib/change/confirm.ts': 'a question without foreign text',
};

t.test('texts go to a terminal through one place', async (t) => {
  const found = sourcesIn('{lib,agents,cli,report}/**/*.ts').filter((file) =>
    /\bprocess\.std(?:out|err)\b|\bconsole\.\w+\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  t.same(found, Object.keys(WRITES_TO_TERMINAL).toSorted());
});

t.test('there are no circular imports, including types', async (t) => {
  const done = new Set<string>();
  const circles = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    if (way.includes(file)) {
      circles.add([...way.slice(way.indexOf(file)), file].join(' -> '));
      return;
    }
    if (done.has(file)) return;
    for (const { target, isLocal } of existing(file)) if (isLocal) visit(target, [...way, file]);
    done.add(file);
  };
  const existing = (file: string) =>
    importsOf(file).filter(({ target }) => sources.includes(target));
  for (const file of sources) visit(file, []);
  t.strictSame([...circles], []);
});

t.test('imports are found however they are written', async (t) => {
  const forms = {
    "import a from './x.ts';": false,
    "import { a,\n  b } from './x.ts';": false,
    "import './x.ts';": false,
    "import type { A } from './x.ts';": true,
    "import { type A, b } from './x.ts';": false,
    "export * from './x.ts';": false,
    "export { a } from './x.ts';": false,
    "export type { A } from './x.ts';": true,
    "const x = await import('./x.ts');": false,
  };
  for (const [source, isTypeOnly] of Object.entries(forms)) {
    t.match(
      parseImports(source, 'lib/a/b.ts'),
      [{ target: 'lib/a/x.ts', isLocal: true, isTypeOnly }],
      source,
    );
  }
  t.match(parseImports("import fs from 'node:fs';", 'lib/a.ts'), [{ target: 'node:fs' }]);
  t.strictSame(parseImports("const from = 'here'; export const x = 'there';", 'lib/a.ts'), []);
});

t.test('effects are distinguished from computation', async (t) => {
  for (const name of ['node:fs', 'node:fs/promises', 'fs', 'node:net', 'execa', '@grpc/grpc-js']) {
    t.ok(isEffect({ target: name, names: [] }), `${name} is an effect`);
  }
  for (const name of ['node:path', 'node:crypto', 'node:util', 'zod', 'yaml']) {
    t.notOk(isEffect({ target: name, names: [] }), `${name} is not`);
  }
  t.ok(isEffect({ target: 'node:net', names: ['isIP', 'connect'] }));
  t.notOk(isEffect({ target: 'node:net', names: ['isIP'] }));
});
