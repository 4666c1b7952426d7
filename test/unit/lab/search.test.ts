/** A search for secrets that was cut off has found nothing out. */
import t from 'tap';
import { foundIn, searchBelow } from '../../../lab/host/search.ts';

const signal = new AbortController().signal;

t.test('paths, and none', async (t) => {
  const folder = t.testdir({ a: 'secret', b: 'open' });
  t.same(await searchBelow(folder, ['-rlF', '--file=-', '.'], signal, 'secret\n'), ['./a']);
  t.same(await searchBelow(folder, ['-rlF', 'other', '.'], signal), []);
});

t.test('a file that is gone ends no search', async (t) => {
  const folder = t.testdir({ a: 'secret' });
  t.same(await searchBelow(folder, ['-lF', 'secret', 'a', 'gone'], signal), ['a']);
});

t.test('a search that was ended, or never began', async (t) => {
  const code = { kind: 'fatal', message: /has not come to its end/ };
  t.throws(() => foundIn({ stdout: 'a\n', stderr: '' }), code);
  t.throws(() => foundIn({ exitCode: 255, stdout: '', stderr: 'no grep' }), code);
  await t.rejects(searchBelow('/does/not/exist', ['-r', 'secret', '.'], signal), code);
});
