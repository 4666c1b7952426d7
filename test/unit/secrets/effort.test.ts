import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { STREAM_LIMITS, TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';

/** How many places are examined when each takes so many milliseconds. */
function places(bytes: number, msEach: number): number {
  let now = 1000;
  const effort = new Effort(() => now);
  effort.block(bytes);
  let count = 0;
  while (!effort.isSpent() && count < 1_000_000) {
    count += 1;
    now += msEach;
  }
  return count;
}

t.test('a block has a time of its own, and more for each byte', async (t) => {
  t.equal(places(1000, 0), 1_000_000, 'what takes no time has no end');
  const [small, large] = [places(1000, 1), places(10_000_000, 1)];
  t.ok(small > 100 && small < 1000, `${small}`);
  t.ok(large > small + 1000, `${large}`);
});

t.test('a block has 200 ms at first, and 200 ns for each byte', async (t) => {
  for (const [bytes, ms] of [
    [0, 200],
    [500_000, 300],
    [1_000_000, 400],
  ] as const) {
    for (const late of [0, 1]) {
      let now = 5000;
      const effort = new Effort(() => now);
      t.notOk(effort.isSpent(), 'before the first block');
      effort.block(bytes);
      const ask = () => Array.from({ length: 256 }, () => effort.isSpent());
      t.notOk(ask().includes(true));
      now += ms + late;
      t.strictSame(ask().indexOf(true), late === 0 ? -1 : 255, `${bytes} bytes, ${ms + late} ms`);
      t.equal(effort.isSpent(), late === 1, 'the answer stays');
      effort.block(0);
      t.notOk(effort.isSpent(), 'until the next block');
    }
  }
});

t.test(
  'a block that takes too long leaves nothing to the next one, and owes nothing',
  async (t) => {
    for (const late of [0, 1]) {
      let now = 0;
      const effort = new Effort(() => now);
      const ask = () => Array.from({ length: 256 }, () => effort.isSpent()).includes(true);
      effort.block(0);
      ask();
      now += 10_000;
      effort.end();
      effort.block(500_000);
      ask();
      now += 100 + late;
      t.equal(ask(), late === 1);
    }
  },
);

t.test('the clock is read at each 256th place of a block', async (t) => {
  let reads = 0;
  const effort = new Effort(() => reads++);
  const ask = (times: number) => {
    for (let time = 0; time < times; time++) effort.isSpent();
    return reads;
  };
  effort.block(0);
  t.equal(ask(255), 0);
  effort.end();
  t.equal(reads, 0, 'and not at the end of a short block');
  effort.block(0);
  t.equal(ask(255), 0, 'each block is counted anew');
  t.equal(ask(1), 1);
  t.equal(ask(256), 2);
  effort.end();
  t.equal(reads, 3);
  effort.end();
  t.equal(reads, 3);
});

t.test('all blocks of a stream share what they do not use', async (t) => {
  let now = 0;
  const effort = new Effort(() => now);
  const spend = (bytes: number, ms: number) => {
    effort.block(bytes);
    Array.from({ length: 256 }, () => effort.isSpent());
    now += ms;
    const isSpent = Array.from({ length: 256 }, () => effort.isSpent()).includes(true);
    effort.end();
    // Of another stream.
    now += 10_000;
    return isSpent;
  };
  t.notOk(spend(0, 150), 'the free part');
  t.ok(spend(0, 150), 'is there once');
  t.ok(spend(100_000, 50), 'the next block has its own bytes alone');
  t.notOk(spend(1_000_000, 50), 'which are enough');
  t.notOk(spend(0, 100), 'and leave some for the next');
});

t.test('this thread’s processor time counts, not that of the clock on the wall', async (t) => {
  const effort = new Effort();
  effort.block(0);
  const ask = () => Array.from({ length: 1000 }, () => effort.isSpent()).includes(true);
  t.notOk(ask());
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const begin = used();
  while (used() < begin + 100);
  t.notOk(ask());
  while (used() < begin + 250);
  t.ok(ask());
});

const marks = { of: () => '#' };
const redactorWith = (isSpent: () => boolean) =>
  new TextRedactor(
    {
      known: new KnownSecrets(['known-Secret-77'], marks),
      triggers: new TriggerSearch(),
      marks,
    },
    {
      budget: new Budget(STREAM_LIMITS),
      effort: { block: () => undefined, isSpent, end: () => undefined },
    },
  );

t.test('the rest of a block that takes too long is taken out', async (t) => {
  const answers = [false, false, true];
  let asked = 0;
  const redactor = redactorWith(() => {
    asked += 1;
    return answers.shift() ?? false;
  });
  const first = 'first password=hunter22 token abcdefgh token ijkl\nknown-Secret-77 words\n';
  t.equal(
    redactor.whole(Buffer.from(first)).toString(),
    'first password=# <redacted>\n',
    'from the next place on',
  );
  t.equal(asked, 3, 'no other place is examined');
  t.equal(
    redactor.whole(Buffer.from('next password=hunter22\n')).toString(),
    'next password=#\n',
    'the next block is looked at again',
  );
  const spent = [false, false, true];
  const stream = redactorWith(() => spent.shift() ?? false);
  const parts = [stream.push(Buffer.from('got password=hunter22 token a\nlast\n')), stream.end()];
  t.equal(
    Buffer.concat(parts).toString(),
    'got password=# <redacted>\nlast\n',
    'up to the last line',
  );
});

t.test('documents in a text use the time of the stream that they are in', async (t) => {
  const encoded = Buffer.from('the token is renewed, words and words').toString('base64');
  const text = Buffer.from(`config ${encoded}\n`);
  t.equal(redactorWith(() => false).whole(text), text, 'nothing secret in it');
  t.equal(
    redactorWith(() => true)
      .whole(text)
      .toString(),
    'config #\n',
  );
});
