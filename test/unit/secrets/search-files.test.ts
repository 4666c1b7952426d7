import { createHash } from 'node:crypto';
import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Search, searchFiles } from '../../../lib/secrets/scan/search-files.ts';
import { newEcKey, plantedKey, tooManyStreams } from './key-scan-forms.ts';

const wanted = plantedKey('wanted', newEcKey());
const other = plantedKey('other', newEcKey());
const pem = ({ forms }: typeof wanted) => forms['PEM, PKCS#8'] ?? Buffer.alloc(0);
const sha256 = (contents: Buffer) => createHash('sha256').update(contents).digest('hex');

const never = new AbortController().signal;

async function* each(paths: readonly string[], error?: Error): AsyncGenerator<string> {
  yield* paths;
  if (error !== undefined) throw error;
}

function filesIn(t: Test, files: Record<string, Buffer | string>) {
  const folder = t.testdir({});
  const path = (name: string) => join(folder, name);
  for (const [name, contents] of Object.entries(files)) writeFileSync(path(name), contents);
  const search = async (names: readonly string[], options: Partial<Search> = {}) => {
    const found = await searchFiles(
      each(names.map(path)),
      { wanted: new Set([wanted.fingerprint]), known: new Map(), ...options },
      never,
    );
    const short = (paths: readonly string[]) =>
      paths.map((each) => each.slice(folder.length + 1)).sort();
    return { ...found, found: short(found.found), incomplete: short(found.incomplete) };
  };
  return { path, search };
}

t.test('files with wanted keys are found, others are counted', async (t) => {
  const { search } = filesIn(t, {
    a: pem(wanted),
    b: pem(other),
    c: 'words',
    d: Buffer.concat([pem(other), pem(wanted)]),
    e: '',
  });
  const result = await search(['a', 'b', 'c', 'd', 'e', 'none']);
  t.strictSame(result.found, ['a', 'd']);
  t.strictSame([...result.keys].sort(), [wanted.fingerprint, other.fingerprint].sort());
  t.equal(result.files, 5);
  t.equal(result.bytes, 2 * pem(wanted).length + 2 * pem(other).length + 5);
  t.strictSame(result.incomplete, []);
});

t.test('a file with two hard links is read once, two separate files are both read', async (t) => {
  const { path, search } = filesIn(t, { a: 'words', b: 'words', c: 'words' });
  linkSync(path('a'), path('a2'));
  linkSync(path('b'), path('b2'));
  const { files } = await search(['a', 'a2', 'b', 'b2', 'c', 'c']);
  t.equal(files, 4, 'a, b, and c for each time');
});

t.test('files with known digests are not searched', async (t) => {
  const { path, search } = filesIn(t, { same: pem(wanted), changed: pem(wanted) });
  const known = new Map([
    [path('same'), sha256(pem(wanted))],
    [path('changed'), sha256(Buffer.from('other contents'))],
  ]);
  const { found, files } = await search(['same', 'changed'], { known });
  t.strictSame(found, ['changed']);
  t.equal(files, 1);
});

t.test('a file not completely searched because of a limit is incomplete', async (t) => {
  const { search } = filesIn(t, { bomb: tooManyStreams, fine: 'words' });
  const { incomplete } = await search(['bomb', 'fine']);
  t.strictSame(incomplete, ['bomb']);
});

t.test('errors are not swallowed, and end the other searches', async (t) => {
  const { path } = filesIn(t, { a: 'words' });
  const search = { wanted: new Set<string>(), known: new Map<string, string>() };
  const error = new Error('the folder could not be read');
  await t.rejects(searchFiles(each([path('a')], error), search, never), error);
  const long = path('x'.repeat(300));
  await t.rejects(searchFiles(each([long]), search, never), { code: 'ENAMETOOLONG' });
  let given = 0;
  async function* endless(): AsyncGenerator<string> {
    yield long;
    for (given = 0; given < 100_000; given++) yield path('a');
  }
  await t.rejects(searchFiles(endless(), search, never), { code: 'ENAMETOOLONG' });
  t.ok(given < 1000, `${given} more files were asked for`);
  const reason = new Error('told to stop');
  await t.rejects(searchFiles(each([path('a')]), search, AbortSignal.abort(reason)), reason);
});
