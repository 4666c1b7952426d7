import t from 'tap';
import { GROUPS } from '../../mutation/groups.ts';
import { sourcesIn } from '../structure/source.ts';

t.test('every pattern of a group matches files, its alternatives too', async (t) => {
  for (const { name, sources, excluded = [], tests } of GROUPS) {
    for (const pattern of [...sources, ...excluded, ...tests].flatMap(alternativesOf)) {
      t.not(sourcesIn(pattern).length, 0, `${name}: ${pattern}`);
    }
  }
});

/** `a/{b,c}/d` as `a/b/d` and `a/c/d`. */
function alternativesOf(pattern: string): string[] {
  const [whole, listed] = /\{([^}]*)\}/.exec(pattern) ?? [];
  if (whole === undefined || listed === undefined) return [pattern];
  return listed.split(',').flatMap((one) => alternativesOf(pattern.replace(whole, () => one)));
}
