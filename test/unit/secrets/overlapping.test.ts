import t from 'tap';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { SeededRandom } from './random.ts';
import { redacted } from './streams.ts';

/** Parts of a text that repeats itself: each of many begins at each of its bytes. */
function partsOf(period: string, count: number): string[] {
  const text = period.repeat(Math.ceil((count + 20) / period.length) + 1);
  return Array.from({ length: count }, (_, at) => {
    const start = at % period.length;
    return text.slice(start, start + 15 + at);
  });
}

const marks = { of: (secret: string) => `(${secret.length})` };

t.test('what overlaps is found once, however many secrets there are', async (t) => {
  const known = new KnownSecrets(partsOf('aB3dE5gH1', 500), marks);
  const line = 'aB3dE5gH1'.repeat(3000);
  const found = known.find(Buffer.from(`before ${line} after`));
  t.equal(found.length, 1, 'not one for each secret at each byte');
  t.match(found[0], { start: 7, end: 7 + line.length });
});

t.test('a line of one pod costs its own log only', async (t) => {
  for (const [period, count] of [
    ['aB3dE5gH1', 500],
    ['aB3d', 500],
    ['aB3d ', 500],
    ['aB3dE5gH1', 4000],
  ] as const) {
    const redactor = createRedactor(Buffer.alloc(32, 1), partsOf(period, count));
    const periodic = period.repeat(Math.ceil(900_000 / period.length));
    const after = `${'words '.repeat(10_000)}\n`.repeat(40);
    const input = `first\n${periodic}\n${after}last\n`;
    const output = (await redacted(redactor.text, Buffer.from(input))).toString();
    t.match(output, /^(?:first\n)?<redacted/, `${period}: the rest of the block may go too`);
    t.notOk(output.includes(period.repeat(3)), period);
    t.ok(output.endsWith('words \nlast\n'), `${period}: what comes much later stays`);
  }
});

t.test('a search that takes too long leaves nothing unseen behind', async (t) => {
  // Each differs from the line in its middle only, and begins and ends as it does.
  const line = 'aB3dE5gH1'.repeat(10_000);
  const almost = Array.from({ length: 600 }, (_, at) => {
    const text = [...line.slice(0, 4000 + at)];
    text[1000 + at] = '#';
    return text.join('');
  });
  const secret = 'q9~W7x8z2k+L';
  const known = new KnownSecrets([secret, ...almost], marks);
  let asked = 0;
  const bytes = Buffer.from(`${secret} ${line} ${secret}`);
  const found = known.find(bytes, { isSpent: () => ++asked > 5 });
  t.ok(asked > 5, 'it asks');
  t.ok(asked < 20, 'and ends at once');
  t.ok(
    found.some(({ end, by }) => end === bytes.length && by === '<redacted>\n'),
    'with all that follows',
  );
  const covered = (at: number) => found.some(({ start, end }) => start <= at && at < end);
  t.ok(covered(0));
  t.ok(covered(bytes.length - 1));
});

t.test('long secrets full of special characters are few spellings', async (t) => {
  const long = (at: number) => `<"'&\\${at}>`.repeat(1200).slice(0, 8000);
  const all = Array.from({ length: 60 }, (_, at) => long(at));
  const known = new KnownSecrets([...all, 'short~<42>x'], marks);
  const find = (text: string) => known.find(Buffer.from(text)).length;
  t.equal(find(`x ${all[3]} y`), 1, 'verbatim');
  t.equal(find(`x ${encodeURIComponent('short~<42>x')} y`), 1, 'others in all spellings');
});

t.test('ordinary YAML is written whole, however many secrets there are', async (t) => {
  const random = new SeededRandom(8);
  const known = Array.from({ length: 800 }, () => random.text(24));
  const yaml = `${'spec:\n'}${'              description: words and words\n'.repeat(40_000)}`;
  const redactor = createRedactor(Buffer.alloc(32, 1), known);
  t.equal((await redacted(redactor.text, Buffer.from(yaml))).toString(), yaml);
});
