import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { gzipMembers } from '../../../agents/gather/bundle/gzip-members.ts';
import { Spooled } from '../../../agents/gather/collecting/spool.ts';
import {
  diskStorage,
  memoryStorage,
  type Storage,
} from '../../../agents/gather/collecting/storage.ts';
import { line } from './synthetic.ts';

const MIB = 2 ** 20;

/** `count` lines of 100 bytes each, in chunks that ignore line boundaries. */
async function* lines(count: number, chunkBytes = 1777): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(Array.from({ length: count }, (_, at) => line(at)).join(''));
  for (let at = 0; at < all.length; at += chunkBytes) yield all.subarray(at, at + chunkBytes);
}

t.test(
  'members form one gzip file, can be split between any two, and end at line breaks',
  async (t) => {
    const members = [];
    for await (const member of gzipMembers(lines(5000), { level: 1, memberBytes: 10_000 })) {
      members.push(member);
    }
    t.ok(members.length >= 50, `${members.length} members`);
    const whole = Buffer.concat(members.map(({ bytes }) => bytes));
    t.equal(gunzipSync(whole).length, 500_000);
    for (const { bytes, plainBytes } of members) {
      const text = gunzipSync(bytes).toString();
      t.equal(text.length, plainBytes);
      t.ok(plainBytes <= 10_000 && text.endsWith('\n'), 'whole lines, at most as large as asked');
    }
    const unbroken = [];
    async function* oneLine() {
      yield Buffer.alloc(25_000, 'x');
    }
    for await (const { plainBytes } of gzipMembers(oneLine(), { level: 1, memberBytes: 10_000 })) {
      unbroken.push(plainBytes);
    }
    t.strictSame(unbroken, [10_000, 10_000, 5000], 'a long line is cut');
  },
);

t.test('a stream that fails is compressed up to the failure', async (t) => {
  async function* failing() {
    yield Buffer.from('before\n');
    throw new Error('gone');
  }
  const seen: string[] = [];
  await t.rejects(async () => {
    for await (const { bytes } of gzipMembers(failing(), { level: 1 })) {
      seen.push(gunzipSync(bytes).toString());
    }
  }, /gone/);
  t.strictSame(seen, ['before\n']);
});

const storages: [string, (folder: string) => Storage][] = [
  ['disk', (folder) => diskStorage(folder)],
  ['memory', () => memoryStorage],
];

for (const [name, storageIn] of storages) {
  t.test(`limits, on ${name}`, async (t) => {
    const folder = t.testdir();
    const table = [
      {
        keep: 'newest',
        limitBytes: MIB,
        lines: 1000,
        first: 0,
        last: 999,
        head: false,
        tail: false,
      },
      { keep: 'newest', limitBytes: 50_000, lines: 1000, last: 999, head: true, tail: false },
      { keep: 'newest', limitBytes: 1, lines: 1000, last: 999, head: true, tail: false },
      { keep: 'oldest', limitBytes: 50_000, lines: 1000, first: 0, head: false, tail: true },
      {
        keep: 'oldest',
        limitBytes: MIB,
        lines: 1000,
        first: 0,
        last: 999,
        head: false,
        tail: false,
      },
    ] as const;
    for (const row of table) {
      const { keep, limitBytes } = row;
      await t.test(`${keep} ${limitBytes}`, async (t) => {
        const room = { left: 10 * MIB };
        const spooled = new Spooled(room, { format: 'text' });
        const place = { storage: storageIn(join(folder, `${keep}${limitBytes}`)), room };
        mkdirSync(join(folder, `${keep}${limitBytes}`));
        await spooled.fill(lines(row.lines), { keep, limitBytes }, place);
        t.equal(spooled.failure, undefined);
        const text = spooled.textSync();
        const parts: Uint8Array[] = [];
        for await (const part of spooled.text()) parts.push(part);
        t.equal(Buffer.concat(parts).toString(), text, 'read at once and as a stream');
        t.equal(spooled.plainBytes, text.length, 'the length is known before');
        const found = text.split('\n').slice(0, -1);
        const body = found.slice(row.head ? 1 : 0, row.tail ? -1 : undefined);
        t.ok(
          body.length * 100 <= Math.max(limitBytes, 4096),
          `${body.length} lines are within the limit`,
        );
        t.ok(
          body.length * 100 >= Math.min(limitBytes, row.lines * 100) * 0.8,
          'and not far below it',
        );
        for (const [at, wanted] of [
          [0, 'first'],
          [-1, 'last'],
        ] as const) {
          if (wanted in row)
            t.equal(`${body.at(at)}\n`, line(wanted === 'first' ? 0 : row.lines - 1));
        }
        t.equal(/^\(\d+ bytes of the oldest part were left out\)$/.test(found[0] ?? ''), row.head);
        t.equal(found.at(-1) === '(the rest was left out)', row.tail);
        if (row.head) t.equal(spooled.leftOut + body.length * 100, row.lines * 100);
        t.equal(10 * MIB - room.left, spooled.storedBytes, 'what it takes is accounted for');
        await spooled.remove();
        t.equal(room.left, 10 * MIB, 'and given back');
        t.strictSame(readdirSync(join(folder, `${keep}${limitBytes}`)), []);
      });
    }
  });
}

t.test('no line is added to a document or a gzip file', async (t) => {
  for (const form of [
    { format: 'json' },
    { format: 'json' },
    { format: 'text', gzipped: true },
  ] as const) {
    const room = { left: MIB };
    const spooled = new Spooled(room, form);
    await spooled.fill(
      lines(1000),
      { keep: 'newest', limitBytes: 10_000 },
      { storage: memoryStorage, room },
    );
    t.ok(spooled.leftOut > 0);
    t.equal(spooled.head + spooled.tail, '');
  }
});

t.test('without room the oldest part is dropped, or the reading ends', async (t) => {
  for (const [keep, others, expected] of [
    ['newest', 0, { isCut: false, failure: undefined }],
    ['oldest', 0, { isCut: true, failure: /the space limit is reached/ }],
    ['oldest', 3, { isCut: true, failure: /space limit/ }],
  ] as const) {
    const room = { left: 20_000 };
    const spooled = new Spooled(room, { format: 'text' });
    let given = 0;
    const makeRoom = async () => {
      if (given === others) return false;
      given += 1;
      room.left += 1000;
      return true;
    };
    const place = { storage: memoryStorage, room, makeRoom };
    await spooled.fill(lines(5000), { keep, limitBytes: 200_000 }, place);
    t.equal(spooled.tail !== '', expected.isCut);
    t.match(String(spooled.failure), expected.failure ?? 'undefined');
    t.equal(given, others, 'others were asked first');
    t.ok(spooled.storedBytes <= 20_000 + 1000 * others);
    t.ok(spooled.storedBytes > 10_000);
  }
});

t.test('a failed write ends the reading; earlier pieces stay intact', async (t) => {
  const storage = memoryStorage;
  let pieces = 0;
  const failing: Storage = {
    async createPiece() {
      pieces += 1;
      if (pieces > 2) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      return storage.createPiece();
    },
  };
  const room = { left: 10 * MIB };
  const spooled = new Spooled(room, { format: 'text' });
  await spooled.fill(
    lines(5000),
    { keep: 'newest', limitBytes: 100_000 },
    { storage: failing, room },
  );
  t.match(spooled.failure, { code: 'ENOSPC' });
  t.ok(spooled.textSync().startsWith(line(0)));
  t.ok(spooled.textSync().endsWith('\n'));
});
