import t from 'tap';
import { type Hit, LiteralSearch } from '../../../lib/secrets/bytes/literal-search.ts';
import { ALPHANUMERIC, SeededRandom } from './random.ts';

/** One place after another, one literal after another. */
function everyHit(text: string, literals: readonly string[], ignoreCase: boolean): Hit[] {
  const folded = (value: string) => (ignoreCase ? value.toLowerCase() : value);
  const hits: Hit[] = [];
  for (let offset = 0; offset < text.length; offset++) {
    for (const [literal, value] of literals.entries()) {
      if (folded(text).startsWith(folded(value), offset)) hits.push({ offset, literal });
    }
  }
  return hits;
}

/** In the order of their offsets. */
function hitsOf(search: LiteralSearch, bytes: Uint8Array): Hit[] {
  const hits: Hit[] = [];
  search.search(bytes, {
    isWanted: () => true,
    found: (hit) => hits.push(hit),
    isSpent: () => false,
  });
  return hits.sort((a, b) => a.offset - b.offset);
}

const sorted = (hits: readonly Hit[]) =>
  hits.toSorted((a, b) => a.offset - b.offset || a.literal - b.literal);

t.test('all places of all literals are found, however long the shortest is', async (t) => {
  for (const [shortest, ignoreCase] of [
    [4, true],
    [4, false],
    [7, true],
    [8, false],
    [14, false],
    [15, false],
    [16, false],
    [40, false],
  ] as const) {
    const random = new SeededRandom(shortest);
    const literals = Array.from({ length: 60 }, (_, index) =>
      random.text(shortest + (index % 9), 'abAB01'),
    );
    const parts = literals.flatMap((literal) => [
      random.text(random.integer(0, 12), 'abAB01'),
      literal,
      literal.slice(1),
      literal.toUpperCase(),
    ]);
    const text = parts.join('');
    const found = hitsOf(
      new LiteralSearch(
        literals.map((literal) => Buffer.from(literal)),
        { ignoreCase },
      ),
      Buffer.from(text),
    );
    const expected = everyHit(text, literals, ignoreCase);
    t.ok(expected.length >= literals.length);
    t.strictSame(sorted(found), expected, `${shortest} bytes, ignoreCase ${ignoreCase}`);
    t.strictSame(
      found.map(({ offset }) => offset),
      found.map(({ offset }) => offset).toSorted((a, b) => a - b),
      'in their order',
    );
  }
});

t.test(
  'a literal at the very end, wherever it begins and whatever comes after the bytes',
  async (t) => {
    for (const literal of ['p@ss', 'passw', 'password', 'password-of-the-host']) {
      const search = new LiteralSearch([Buffer.from(literal)], { ignoreCase: false });
      for (let before = 0; before <= 16; before++) {
        const whole = Buffer.from(`(${'.'.repeat(before)}${literal}${literal})`);
        const bytes = whole.subarray(1, 1 + before + literal.length);
        t.strictSame(
          hitsOf(search, bytes),
          [{ offset: before, literal: 0 }],
          `${before} ${literal}`,
        );
        t.strictSame(hitsOf(search, bytes.subarray(0, -1)), [], `${before} ${literal}, cut`);
      }
    }
  },
);

t.test('tens of thousands of literals', async (t) => {
  const random = new SeededRandom(1);
  const literals = Array.from({ length: 30_000 }, () => random.text(20, ALPHANUMERIC));
  const search = new LiteralSearch(
    literals.map((literal) => Buffer.from(literal)),
    { ignoreCase: false },
  );
  const text = literals.map((literal) => `${literal}/`).join('');
  t.strictSame(
    hitsOf(search, Buffer.from(text)),
    literals.map((_, literal) => ({ offset: literal * 21, literal })),
  );
});

t.test('only letters have two cases', async (t) => {
  const search = new LiteralSearch([Buffer.from('pass_@[x')], { ignoreCase: true });
  t.equal(hitsOf(search, Buffer.from('a PASS_@[X')).length, 1);
  t.equal(hitsOf(search, Buffer.from('a pass\x7f`{x')).length, 0);
});

t.test('no literals, no bytes, bytes shorter than a literal', async (t) => {
  t.strictSame(hitsOf(new LiteralSearch([], { ignoreCase: false }), Buffer.from('words')), []);
  const search = new LiteralSearch([Buffer.from('password')], { ignoreCase: false });
  for (const text of ['', 'p', 'passwor', 'assword']) {
    t.strictSame(hitsOf(search, Buffer.from(text)), [], text);
  }
  t.strictSame(hitsOf(search, Buffer.from('password')), [{ offset: 0, literal: 0 }]);
});
