import t from 'tap';
import { FoundSecrets } from '../../../lib/secrets/redact/found-secrets.ts';
import { fairNumber, HOST, Shares } from '../../../lib/secrets/redact/shares.ts';

const texts = (of: string, count: number, length = 10) =>
  Array.from({ length: count }, (_, at) => `${of}-${at}-`.padEnd(length, 'xyZ9'));

t.test('who has the most gives way, the host never', async (t) => {
  const shares = new Shares(100);
  for (const text of texts('h', 2)) shares.add(HOST, text);
  for (const text of texts('flood', 50)) shares.add('flood', text);
  t.equal(shares.of('flood').length, 8, 'all the room that nobody else has used');
  for (const text of texts('b', 3)) shares.add('b', text);
  for (const text of texts('h', 3)) shares.add(HOST, text);
  t.strictSame(shares.of(HOST), texts('h', 3));
  t.strictSame(shares.of('b'), texts('b', 3));
  t.strictSame(shares.of('flood'), texts('flood', 4), 'its first are kept');
  t.strictSame([...shares.cut], ['flood']);
  for (const text of texts('h', 20)) shares.add(HOST, text);
  t.equal(shares.of(HOST).length, 10, 'the host alone fills it');
  t.strictSame([...shares.cut], ['flood', 'b', HOST]);
});

t.test('equally many for all, and what some do not need for the others', async (t) => {
  t.equal(fairNumber([3, 4], 7), Number.POSITIVE_INFINITY);
  t.equal(fairNumber([5, 5], 6), 3);
  t.equal(fairNumber([100, 1, 100], 11), 5);
  t.equal(fairNumber([1000, 2, 3], 10), 5);
  t.equal(fairNumber([4], -3), 0);
  t.equal(fairNumber([], 0), Number.POSITIVE_INFINITY);
});

t.test('one flood of each kind costs no other owner anything', async (t) => {
  const floods: Readonly<Record<string, (found: FoundSecrets) => void>> = {
    'many words': (found) => {
      for (const word of texts('flood', 9000)) found.add(word, 'flood');
    },
    'long words': (found) => {
      for (const word of texts('flood', 80, 8192)) found.add(word, 'flood');
    },
    'many keys': (found) => {
      for (const line of texts('flood', 9000)) found.addKey([`${line}-1`, `${line}-2`], 'flood');
    },
    'long lines of keys': (found) => {
      for (const line of texts('flood', 200, 8000)) found.addKey([line], 'flood');
    },
  };
  for (const [name, flood] of Object.entries(floods)) {
    for (const isFirst of [true, false]) {
      const found = new FoundSecrets(4000);
      const others = () => {
        found.add('password-of-the-host');
        found.addKey(['host-key-line-1', 'host-key-line-2']);
        for (let pod = 0; pod < 100; pod++) {
          for (const word of texts(`pod-${pod}`, 5, 40)) found.add(word, `pod-${pod}`);
          found.addKey([`key-${pod}-line-1`, `key-${pod}-line-2`], `pod-${pod}`);
        }
      };
      if (!isFirst) others();
      flood(found);
      if (isFirst) others();
      const all = new Set(found.all);
      const expected = [
        'password-of-the-host',
        'host-key-line-1',
        ...Array.from({ length: 100 }, (_, pod) => [
          ...texts(`pod-${pod}`, 5, 40),
          `key-${pod}-line-1`,
          `key-${pod}-line-2`,
        ]).flat(),
      ];
      const missing = expected.filter((secret) => !all.has(secret));
      t.strictSame(missing, [], `${name}, ${isFirst ? 'first' : 'last'}`);
      t.ok(all.size <= 4000);
      t.strictSame(found.cut, ['flood'], name);
    }
  }
});
