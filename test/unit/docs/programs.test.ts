import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../../..');
/** The agents' own, and those of the payload. */
const OWN = ['sno-agents', 'sno-agents.trial', 'kubelet', 'etcdutl'];
/** `gather` leaves out what is missing. */
const OPTIONAL = /^agents\/gather\//;

const filesBelow = (folder: string, ends: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ends.test(name))
    .map((name) => `${folder}/${name}`);

const text = (path: string) => readFileSync(join(root, path), 'utf8');

/** Programs that the source names where it runs them. */
const inSource = [...filesBelow('agents', /\.ts$/), ...filesBelow('lib', /\.ts$/)]
  .filter((path) => !OPTIONAL.test(path))
  .flatMap((path) =>
    Array.from(
      text(path).matchAll(/\b(?:run|execa|runNamedUnit|execFile)\(\s*\[?'([a-z][\w.-]*)'/g),
      ([, name = '']) => name,
    ),
  );

/** Programs that units run, below /usr. */
const inUnits = filesBelow('units', /\.(service|conf)$/).flatMap((path) =>
  Array.from(text(path).matchAll(/^Exec\w+=-?(\/\S+)/gm), ([, program = '']) => basename(program)),
);

t.test('the programs of the operating system are listed', async (t) => {
  const [, section = ''] = text('docs/operating-systems.md').split(
    'Programs of the operating system that',
  );
  const [table = ''] = section.split('\n## ');
  const listed = new Set(Array.from(table.matchAll(/`([a-z][\w.-]*)`/g), ([, name]) => name));
  const used = new Set([...inSource, ...inUnits].filter((name) => !OWN.includes(name)));
  t.ok(used.size > 20, 'they are found');
  t.same([...used].filter((name) => !listed.has(name)).toSorted(), []);
});
