/** No test lies in a file that nobody runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TIERS } from '../../runner/tiers.ts';
import { importsOf, root, sourcesIn } from './source.ts';

/** What these files are or load, as far as it is in `test/`. */
function loadedBy(files: readonly string[]): ReadonlySet<string> {
  const loaded = new Set(files);
  for (const file of loaded) {
    for (const { target, isLocal, isTypeOnly } of importsOf(file)) {
      if (isLocal && !isTypeOnly && target.startsWith('test/') && existsSync(join(root, target)))
        loaded.add(target);
    }
  }
  return loaded;
}

t.test('each file with tests is run, or loaded by one that is', async (t) => {
  const folders = `test/{${TIERS.map(({ name }) => name).join()}}`;
  const loaded = loadedBy(sourcesIn(`${folders}/**/*.test.ts`));
  const withTests = sourcesIn(`${folders}/**/*.ts`).filter((file) =>
    /^\s*(?:await )?t\.test\(/m.test(readFileSync(join(root, file), 'utf8')),
  );
  t.ok(withTests.length > 500, `${withTests.length} files with tests`);
  t.same(
    withTests.filter((file) => !loaded.has(file)),
    [],
  );
});
