import { matchesGlob } from 'node:path';
import t from 'tap';
import { GROUPS } from '../../mutation/groups.ts';
import { importsOf, sourcesIn } from '../structure/source.ts';

t.test('every pattern of a group matches files, its alternatives too', async (t) => {
  for (const { name, sources, excluded = [], tests } of GROUPS) {
    for (const pattern of [...sources, ...excluded, ...tests].flatMap(alternativesOf)) {
      t.not(sourcesIn(pattern).length, 0, `${name}: ${pattern}`);
    }
  }
});

/** Where a mutant that survives is to be a gap in the tests, and not in the list of them. */
const COMPLETE = ['backup', 'reconfigure', 'update'];

t.test('each unit test that imports a source of these groups is among their tests', async (t) => {
  const files = sourcesIn('test/unit/**/*.test.ts');
  for (const { name, sources, tests } of GROUPS.filter(({ name }) => COMPLETE.includes(name))) {
    const isOf = (patterns: readonly string[], file: string) =>
      patterns.some((pattern) => matchesGlob(file, pattern));
    for (const file of files) {
      const imports = importsOf(file).filter(({ isTypeOnly }) => !isTypeOnly);
      if (imports.some(({ target }) => isOf(sources, target)))
        t.ok(isOf(tests, file), `${name}: ${file}`);
    }
  }
});

/** `a/{b,c}/d` as `a/b/d` and `a/c/d`. */
function alternativesOf(pattern: string): string[] {
  const [whole, listed] = /\{([^}]*)\}/.exec(pattern) ?? [];
  if (whole === undefined || listed === undefined) return [pattern];
  return listed.split(',').flatMap((one) => alternativesOf(pattern.replace(whole, () => one)));
}
