import t from 'tap';
import { FoundSecrets } from '../../../lib/secrets/redact/found-secrets.ts';

/** Distinct words of a length, from 12. */
const word = (number: number, length = 12) => `Word-${number}-`.padEnd(length, 'xyz');
const words = (count: number, length?: number) =>
  Array.from({ length: count }, (_, index) => word(index, length));

t.test('words come first, then two lines of each key, then the others', async (t) => {
  const found = new FoundSecrets(100);
  found.addKey(['key-A-line-1', 'key-A-line-2', 'key-A-line-3']);
  found.add('password-1');
  found.addKey(['key-B-line-1', 'key-B-line-2']);
  found.add('password-2');
  found.add('password-1');
  found.addKey(['key-A-line-1', 'key-A-line-2', 'password-2']);
  const { all } = found;
  t.strictSame(all, [
    'password-1',
    'password-2',
    'key-A-line-1',
    'key-A-line-2',
    'key-B-line-1',
    'key-B-line-2',
    'key-A-line-3',
  ]);
  t.strictSame(found.cut, []);
});

t.test('ordinary and very long texts are left out', async (t) => {
  const found = new FoundSecrets(100);
  for (const ordinary of ['', 'short-1', 'word', 'aaaabbbb', word(1, 8193)]) {
    found.add(ordinary);
    found.addKey([ordinary]);
  }
  t.strictSame(found.all, []);
  t.strictSame(found.cut, [], 'nothing is missing that could be looked for');
  found.add(word(1, 8192));
  found.addKey([word(2, 8192)]);
  t.strictSame(found.all, [word(1, 8192), word(2, 8192)]);
});

t.test('of too many words the first are kept', async (t) => {
  const found = new FoundSecrets(3);
  for (const each of words(3)) found.add(each);
  found.add(word(0));
  t.strictSame(found.all, words(3));
  t.strictSame(found.cut, []);
  found.add(word(3));
  t.strictSame(found.all, words(3));
  t.strictSame(found.cut, ['']);
});

t.test('all together have at most 1 Mi characters', async (t) => {
  const found = new FoundSecrets(1000);
  const full = words(128, 8192);
  for (const each of full) found.add(each);
  t.strictSame(found.all, full);
  found.add(word(0, 8192));
  t.strictSame(found.cut, []);
  found.add('another-1');
  t.strictSame(found.all, full);
  t.strictSame(found.cut, ['']);
});

t.test('one pod has no more than a thousand, so that it cannot take all the room', async (t) => {
  const found = new FoundSecrets(4000);
  for (let at = 1; at <= 1025; at++) found.add(`pod-A-secret-${at}`, 'A');
  found.add('pod-B-secret-1', 'B');
  for (let at = 1; at <= 2000; at++) found.add(`host-secret-${at}`);
  t.equal(found.all.length, 1024 + 1 + 2000);
  t.notOk(found.all.includes('pod-A-secret-1025'));
  t.strictSame(found.cut, ['A']);
});

t.test("what is not the host's own has at most 128 Ki characters each", async (t) => {
  const found = new FoundSecrets(1000);
  for (const each of words(17, 8192)) found.add(each, 'A');
  found.add('pod-B-secret-1', 'B');
  t.equal(found.all.length, 17);
  t.ok(found.all.includes('pod-B-secret-1'));
  t.strictSame(found.cut, ['A']);
});

t.test('a key is cut if one of its first two lines has no room', async (t) => {
  const table: [keys: string[][], all: string[], isCut: boolean][] = [
    [[['A-line-1', 'A-line-2', 'A-line-3']], ['A-line-1', 'A-line-2'], false],
    [[['A-line-1'], ['B-line-1']], ['A-line-1', 'B-line-1'], false],
    [[['A-line-1'], ['B-line-1'], ['A-line-1']], ['A-line-1', 'B-line-1'], false],
    [[['A-line-1', 'A-line-2'], ['B-line-1']], ['A-line-1', 'A-line-2'], true],
    [[['A-line-1'], ['B-line-1'], ['C-line-1']], ['A-line-1', 'B-line-1'], true],
  ];
  for (const [keys, all, isCut] of table) {
    const found = new FoundSecrets(2);
    for (const lines of keys) found.addKey(lines);
    t.strictSame(found.all, all, keys.join('; '));
    t.equal(found.cut.length > 0, isCut, keys.join('; '));
  }
  const many = new FoundSecrets(2);
  many.addKey(['', '', 'A-line-3', 'A-line-4', 'A-line-5']);
  t.strictSame(many.all, ['A-line-3', 'A-line-4']);
  many.add('password-1');
  t.strictSame(many.all, ['password-1', 'A-line-3'], 'other lines take no room from words');
  t.strictSame(many.cut, [], 'which are not missed');
});
