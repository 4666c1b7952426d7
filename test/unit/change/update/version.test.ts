/** Versions of releases: their numbers and their order. */
import t from 'tap';
import { isOlder, numbersOf } from '../../../../lib/change/update/version.ts';

/** Each version is older than the next one. */
const ASCENDING: readonly (readonly string[])[] = [
  // The example of Semantic Versioning 2.0, 11.4.
  [
    ...['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2'],
    ...['1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1-rc.1', '1.0.1', '1.1.0', '2.0.0'],
  ],
  ['v1.34.4-rc.9+k3s1', 'v1.34.4-rc.10', 'v1.34.4+k3s1', 'v1.34.4+k3s2', 'v1.34.4+k3s10'],
  ['1.2.3+build.9.1', '1.2.3+build.9.2', '1.2.3+build.10.0'],
  ['1.2.3+20261127', '1.2.3+20261128', '1.2.4+20250101'],
  ['1.0.9007199254740993-1', '1.0.9007199254740994'],
];

t.test('the order of versions', async (t) => {
  for (const versions of ASCENDING) {
    for (const [index, older] of versions.entries()) {
      t.equal(isOlder(older, older), false, older);
      for (const newer of versions.slice(index + 1)) {
        t.equal(isOlder(older, newer), true, `${older} before ${newer}`);
        t.equal(isOlder(newer, older), false, `${newer} after ${older}`);
      }
    }
  }
  for (const [a, b] of [
    ['1.2.3+abc', '1.2.3+def'],
    ['1.2.3+1a2b3c', '1.2.3+9f8e7d6'],
    ['1.2.3', '1.2.3+build'],
  ] as const) {
    t.equal(isOlder(a, b), false, `${a} and ${b} have no order`);
    t.equal(isOlder(b, a), false, `${b} and ${a} have no order`);
  }
  t.equal(isOlder('newest', '1.0.0'), undefined);
  t.equal(isOlder('1.0.0', ''), undefined);
});

t.test('versions as numbers', async (t) => {
  t.same(numbersOf('v1.34.4'), [1, 34, 4]);
  t.same(numbersOf('0.1.0+1a2b3c'), [0, 1, 0]);
  t.same(numbersOf('v1.35.0-rc.1'), [1, 35, 0]);
  for (const text of ['', '1.2', 'v1.2.3.4', '1.2.x', ' 1.2.3'])
    t.equal(numbersOf(text), undefined, text);
});
