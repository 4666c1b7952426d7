import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { nameOf } from '../../mutation/mutant.ts';
import { mutantsOf } from '../../mutation/mutate.ts';
import { isSame, readSurvivors } from '../../mutation/survivors.ts';

const root = join(import.meta.dirname, '../../..');

t.test('every explained survivor is exactly one mutant of the current code', async (t) => {
  const survivors = await readSurvivors(join(root, 'test/mutation/survivors.json'));
  for (const [file, explained] of Map.groupBy(survivors, ({ file }) => file)) {
    const text = await readFile(join(root, file), 'utf8');
    const names = mutantsOf(file, text).map((mutant) => nameOf(text, mutant));
    for (const it of explained) {
      const what = `${file}: ${it.before} => ${it.after}`;
      t.ok(
        names.some((name) => isSame(it, name)),
        what,
      );
      t.equal(explained.filter((other) => isSame(it, other)).length, 1, what);
    }
  }
});
