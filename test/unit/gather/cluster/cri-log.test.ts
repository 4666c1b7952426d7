import t from 'tap';
import { messages } from '../../../../agents/gather/sources/cri-log.ts';

async function converted(text: string, { sinceMs, size = 7 }: { sinceMs?: number; size?: number }) {
  async function* chunks() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: Uint8Array[] = [];
  for await (const chunk of messages(chunks(), sinceMs)) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

const TIME = '2026-01-02T03:04:05.123456789Z';

t.test('messages with their times', async (t) => {
  const cases: [string, string, string][] = [
    ['a message', `${TIME} stdout F hello world\n`, `${TIME} hello world\n`],
    ['an empty one', `${TIME} stderr F \n`, `${TIME} \n`],
    ['without an end', `${TIME} stdout F hello`, `${TIME} hello\n`],
    ['more tags', `${TIME} stdout F:x hello\n`, `${TIME} hello\n`],
    ['parts', `${TIME} stdout P sec\n${TIME} stdout F ret\n`, `${TIME} secret\n`],
    [
      'parts of two streams',
      `${TIME} stdout P sec\n${TIME} stderr F e\n${TIME} stdout P r\n${TIME} stdout F et\n`,
      `${TIME} e\n${TIME} secret\n`,
    ],
    ['a part without its rest', `${TIME} stdout P half\n`, `${TIME} half\n`],
    ['other text', 'panic: what\n\n  at x\n', 'panic: what\n\n  at x\n'],
    ['nothing', '', ''],
  ];
  for (const [name, text, expected] of cases) {
    for (const size of [1, 7, 1000]) t.equal(await converted(text, { size }), expected, name);
  }
});

t.test('older lines are left out up to the first newer one', async (t) => {
  const at = (second: number) => `2026-01-02T03:04:0${second}.5Z`;
  const text = [1, 2, 3, 1].map((second) => `${at(second)} stdout F ${second}\n`).join('');
  const sinceMs = Date.parse(at(2));
  t.equal(await converted(text, { sinceMs }), `${at(2)} 2\n${at(3)} 3\n${at(1)} 1\n`);
});

t.test('endless lines and messages are bounded', async (t) => {
  const endless = 'x'.repeat(3 << 20);
  t.equal((await converted(endless, { size: 1 << 16 })).trimEnd(), endless);
  const part = `${TIME} stdout P ${'y'.repeat(1 << 18)}\n`;
  const text = await converted(part.repeat(12), { size: 1 << 16 });
  t.equal(text.replaceAll(/[^y]/g, '').length, 12 << 18);
  t.ok(text.split('\n').length > 2, 'in several lines');
});
