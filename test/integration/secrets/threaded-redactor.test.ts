import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { RedactionThread, StreamLost } from '../../../lib/secrets/threads/redaction-thread.ts';
import { ThreadedRedactor } from '../../../lib/secrets/threads/threaded-redactor.ts';
import { redacted } from '../../unit/secrets/streams.ts';

const KEY = Buffer.alloc(32, 1);
const KNOWN = ['known-Secret-77'];
const ORDINARY = 'ordinary words of a program that says what it does\n';
/** A secret in every line takes so long that a machine under load leaves some out (effort.ts). */
const LINES = `${ORDINARY.repeat(9)}ordinary words password=hunter22 and known-Secret-77\n`.repeat(
  2000,
);
t.test('a thread redacts like the redactor', async (t) => {
  const plain = createRedactor(KEY, KNOWN);
  using threaded = new ThreadedRedactor(KEY, KNOWN);
  const input = Buffer.from(LINES);
  const expected = await redacted(plain.text, input);
  t.notOk(expected.equals(input));
  for (const size of [1000, 65_536, 10_000_000]) {
    const output = await redacted(threaded.text, input, () => size);
    t.ok(output.equals(expected), `in pieces of ${size}`);
  }
  t.equal((await redacted(threaded.text, Buffer.alloc(0))).length, 0);
});

t.test('streams side by side, each from memory that its source uses again', async (t) => {
  const plain = createRedactor(KEY, KNOWN);
  using threaded = new ThreadedRedactor(KEY, KNOWN);
  await Promise.all(
    Array.from({ length: 6 }, async (_, stream) => {
      const input = Buffer.from(LINES.replaceAll('ordinary', `stream ${stream}`));
      async function* chunks() {
        const memory = Buffer.alloc(100_000);
        for (let at = 0; at < input.length; at += memory.length) {
          yield memory.subarray(0, input.copy(memory, 0, at));
        }
      }
      const parts: Buffer[] = [];
      for await (const part of threaded.text(chunks())) parts.push(Buffer.from(part));
      const expected = await redacted(plain.text, input);
      t.ok(Buffer.concat(parts).equals(expected), `stream ${stream}`);
    }),
  );
});

t.test('what a stream has yielded stays until more is asked for', async (t) => {
  using threaded = new ThreadedRedactor(KEY, KNOWN);
  const first = threaded.text(endless())[Symbol.asyncIterator]();
  const { value } = await first.next();
  const before = Buffer.from(value ?? '');
  t.ok(before.length > 0);
  await redacted(threaded.text, Buffer.from(LINES.replaceAll('words', 'other')));
  t.ok(before.equals(value ?? Buffer.alloc(0)));
  await first.return?.();
});

t.test('a source that fails ends its own stream', async (t) => {
  using threaded = new ThreadedRedactor(KEY, KNOWN);
  async function* failing() {
    yield Buffer.from(LINES);
    await sleep(1);
    throw new Error('the source failed');
  }
  await t.rejects(Array.fromAsync(threaded.text(failing())), { message: 'the source failed' });
  const output = await redacted(threaded.text, Buffer.from('password=hunter22\n'));
  t.match(output.toString(), /^password=<redacted:\w+>\n$/, 'the thread goes on');
});

t.test('a stream that nobody reads to its end holds nothing up', async (t) => {
  using threaded = new ThreadedRedactor(KEY, KNOWN);
  for await (const part of threaded.text(endless())) {
    t.ok(part.length > 0);
    break;
  }
  const output = await redacted(threaded.text, Buffer.from('password=hunter22\n'));
  t.match(output.toString(), /^password=<redacted:\w+>\n$/);
});

t.test('a thread that does not answer is ended with its streams, and replaced', async (t) => {
  // No thread starts within a millisecond.
  using threaded = new ThreadedRedactor(KEY, KNOWN, 1);
  const failure = { message: 'the redaction of a part did not end in 0.001 s' };
  for (const _ of [0, 1]) {
    await t.rejects(Array.fromAsync(threaded.text(endless())), failure);
  }
});

t.test(
  'a thread that is ended at one stream loses the others, which can begin again',
  async (t) => {
    using thread = new RedactionThread({ key: KEY, known: KNOWN }, 1);
    const [first, second, third] = [0, 1, 2].map(() => thread.open());
    // No thread starts within a millisecond: what was asked for first is what it is blamed on.
    const asked = [first, second].map((stream = 0) => thread.push(stream, new Uint8Array(10)));
    thread.close(third ?? 0);
    const [culprit, other] = await Promise.allSettled(asked);
    t.match(culprit, { reason: { message: /^the redaction of a part did not end in 0.001 s$/ } });
    t.notOk(culprit?.status === 'rejected' && culprit.reason instanceof StreamLost);
    t.ok(other?.status === 'rejected' && other.reason instanceof StreamLost);
    await t.rejects(thread.push(third ?? 0, new Uint8Array(10)), StreamLost);
  },
);

t.test('a stream that was given up is still what the thread is blamed on', async (t) => {
  using thread = new RedactionThread({ key: KEY, known: KNOWN }, 1);
  const [hostile, other] = [thread.open(), thread.open()];
  thread.push(hostile, new Uint8Array(10)).catch(() => undefined);
  thread.close(hostile);
  await t.rejects(thread.push(other, new Uint8Array(10)), StreamLost);
});

t.test('a stream that is closed is nothing to wait for', async (t) => {
  using thread = new RedactionThread({ key: KEY, known: KNOWN }, 60_000);
  const [closed, other] = [thread.open(), thread.open()];
  thread.push(closed, new Uint8Array(Buffer.from('words\n'))).catch(() => undefined);
  thread.close(closed);
  thread.push(other, new Uint8Array(Buffer.from('password=hunter22\n'))).catch(() => undefined);
  const parts = await thread.end(other);
  t.match(Buffer.concat(parts).toString(), /^(?:password=<redacted:\w+>\n)?$/);
  t.notOk(thread.isOver);
});

t.test('after its end nothing is redacted, and nothing waits', async (t) => {
  const threaded = new ThreadedRedactor(KEY, KNOWN);
  const stream = Array.fromAsync(threaded.text(endless()));
  threaded[Symbol.dispose]();
  await t.rejects(stream, { message: 'the redaction was stopped' });
});

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Buffer.from(LINES);
    await sleep(0);
  }
}
