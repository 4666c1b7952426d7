import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { root } from './source.ts';

const MAX_LINES = 350;
const MEANINGLESS_NAMES = /^(utils?|helpers?|managers?|common|misc)(\.|$)/;
const TEXT = /\.(ts|mjs|json|md|service|socket|target|timer|path|conf|ya?ml)$|^[^.]+$/;
/** Folders on a developer's machine, which do not exist on others. */
/** The users of examples have no machine. */
const MACHINE_PATHS =
  /(?<![\w./])\/(?:work|farm|home(?!\/(?:alice|bob|core)\b)|Users|root\/src)\/\w/;

/** Files in the repository or about to be added, without those ignored by git. */
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  { cwd: root, encoding: 'utf8', timeout: 10_000 },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

const texts = files
  .filter((file) => file !== 'package-lock.json' && TEXT.test(file.split('/').at(-1) ?? ''))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

t.test('source files stay short enough to be read', async (t) => {
  const long = texts
    .filter(({ file }) => /\.(ts|mjs)$/.test(file))
    .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES);
  t.strictSame(long, [], `at most ${MAX_LINES} lines`);
});

t.test('names say what is in a file', async (t) => {
  const isMeaningless = (file: string) =>
    file.split('/').some((part) => MEANINGLESS_NAMES.test(part));
  t.strictSame(files.filter(isMeaningless), []);
  t.ok(isMeaningless('lib/utils.ts'));
});

t.test("no path belongs to a developer's machine", async (t) => {
  const found = texts.flatMap(({ file, text }) =>
    text
      .split('\n')
      .filter((line) => MACHINE_PATHS.test(line))
      .map((line) => `${file}: ${line}`),
  );
  t.strictSame(found, []);
  for (const sample of ['home/me/x', 'Users/me', 'work/x'].map((path) => `cd /${path}`))
    t.match(sample, MACHINE_PATHS);
  for (const sample of ['/var/home/core', 'https://example.com/work/x', 'a/work/b']) {
    t.notMatch(sample, MACHINE_PATHS);
  }
});

t.test('the README names the two commands', async (t) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  t.match(readme, 'npm run lab');
  t.match(readme, 'npm test');
});

t.test('the files expected in a repository exist', async (t) => {
  for (const file of ['LICENSE', 'CHANGELOG.md', 'ARCHITECTURE.md', '.ci/run']) {
    t.ok(existsSync(join(root, file)), file);
  }
  t.match(readFileSync(join(root, '.ci/run'), 'utf8'), /^exec npm test$/m);
});
