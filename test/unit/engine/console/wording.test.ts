import t from 'tap';
import { shownOnConsole } from '../../../../lib/engine/console/wording.ts';

t.test('of a long text both ends are shown, by whole characters', async (t) => {
  const short = `FAILED: ${'x'.repeat(700)}`;
  t.equal(shownOnConsole(short), short);
  const long = shownOnConsole(`FAILED: ${'x'.repeat(9000)}${'😀'.repeat(300)} no such host`);
  t.match(long, /^FAILED: x{392} \.\.\. x+😀{300} no such host$/u);
  for (const before of ['', 'y']) {
    t.ok(shownOnConsole(`${before}${'😀'.repeat(900)}`).isWellFormed());
  }
});
