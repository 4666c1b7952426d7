import { join } from 'node:path';
import t from 'tap';
import { sha256OfFile, sha256OfFiles, sha256OfStream } from '../../../lib/host/digests.ts';
import { sha256 } from '../../../lib/host/files.ts';

const signal = AbortSignal.timeout(30_000);

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

t.test('digests of files and of streams', async (t) => {
  const folder = t.testdir({ a: 'text', 'b\n\\c': '' });
  const names = ['a', 'b\n\\c'].map((name) => join(folder, name));
  t.strictSame([...(await sha256OfFiles(names, signal)).values()], [sha256('text'), sha256('')]);
  for (const [index, text] of ['text', ''].entries()) {
    t.equal(await sha256OfFile(names[index] ?? '', signal), sha256(text));
  }
  t.equal(await sha256OfStream(pieces('te', 'xt'), signal), sha256('text'));
  t.equal(await sha256OfStream(pieces(), signal), sha256(''));
});

t.test('a stream that fails has no digest', async (t) => {
  const damaged = pieces('te', new Error('damaged'));
  await t.rejects(sha256OfStream(damaged, signal), { message: 'damaged' });
  const stopped = AbortSignal.abort(new Error('stopped'));
  await t.rejects(sha256OfStream(pieces('text'), stopped));
});
