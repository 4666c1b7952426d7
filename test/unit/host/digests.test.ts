import { join } from 'node:path';
import t from 'tap';
import { sha256OfAnyFile, sha256OfFiles, sha256OfStream } from '../../../lib/host/digests.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { testHost } from '../agents/host/host.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';
import { recordLimits } from './timers.ts';

const signal = new AbortController().signal;

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

t.test('digests of files and of streams', async (t) => {
  const large = 'x'.repeat((1 << 20) + 1);
  const folder = t.testdir({ a: 'text', 'b\n\\c': '', large });
  const names = ['a', 'b\n\\c'].map((name) => join(folder, name));
  t.strictSame(
    [...(await sha256OfFiles(names, signal))],
    [
      [names[0], sha256('text')],
      [names[1], sha256('')],
    ],
  );
  t.strictSame(await sha256OfFiles([], signal), new Map());
  for (const [index, text] of ['text', ''].entries()) {
    t.equal(await sha256OfAnyFile(names[index] ?? '', signal), sha256(text));
  }
  t.equal(await sha256OfAnyFile(join(folder, 'large'), signal), sha256(large));
  t.equal(await sha256OfStream(pieces('te', 'xt'), signal), sha256('text'));
  t.equal(await sha256OfStream(pieces(), signal), sha256(''));
});

t.test('a program is started for more than 1 MiB', async (t) => {
  const { programs } = testHost(t);
  programs.give('sha256sum', 'exec /usr/bin/sha256sum "$@"');
  const folder = t.testdir({ small: 'x'.repeat(1 << 20), large: 'x'.repeat((1 << 20) + 1) });
  await sha256OfAnyFile(join(folder, 'small'), signal);
  t.same(programs.calls(), []);
  await sha256OfAnyFile(join(folder, 'large'), signal);
  t.equal(programs.calls().length, 1);
});

t.test('a stream that fails has no digest', async (t) => {
  const damaged = pieces('te', new Error('damaged'));
  await t.rejects(sha256OfStream(damaged, signal), { message: 'damaged' });
  const stopped = AbortSignal.abort(new Error('told to stop'));
  await t.rejects(sha256OfStream(pieces('text'), stopped), { name: 'AbortError' });
  await t.rejects(sha256OfFiles(['/etc/hosts'], stopped), /stopped/);
  await t.rejects(sha256OfFiles(['/does/not/exist'], signal), { code: 'command-failed' });
});

t.test('a hash program that fails has no digest', async (t) => {
  const { programs } = testHost(t);
  programs.give('sha256sum', 'exec /bin/cat > /dev/null');
  const limits = recordLimits(t);
  await sha256OfStream(pieces('text'), signal);
  await sha256OfFiles(['-a', 'b'], signal);
  t.same(programs.calls(), ['sha256sum --binary', 'sha256sum --binary --zero -- -a b']);
  t.same(limits, [600_000, 600_000]);
  programs.give('sha256sum', 'exit 3');
  await t.rejects(sha256OfStream(pieces('text'), signal));
  t.match(await thrownBy(sha256OfStream(pieces(), signal)), { exitCode: 3 });
});
