import t from 'tap';
import {
  expiredBackups,
  makingRoom,
  type StoredBackup,
} from '../../../../lib/change/backup/retention.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2030-01-31T12:00:00Z');
/** `a3`: complete, three days old; `b3`: damaged; `a-9@3`: three days old, named nine days ahead. */
const backup = (name: string): StoredBackup => ({
  name,
  at: new Date(NOW.getTime() - Number(name.slice(1).split('@')[0]) * DAY_MS),
  revision: name.startsWith('b') ? undefined : 1000 - Number(name.slice(1).split('@').at(-1)),
  bytes: name.startsWith('b') ? 0 : 10,
  isComplete: name.startsWith('a'),
});
const generous = { count: 100, ageMs: 365 * DAY_MS, bytes: 1e9 };

const cases: [title: string, limits: object, all: string[], expired: string[]][] = [
  ['none', {}, [], []],
  ['all within the limits', { count: 3 }, ['a1', 'a2', 'a3'], []],
  ['by number', { count: 2 }, ['a1', 'a2', 'a3', 'a4'], ['a3', 'a4']],
  ['by number, in any order', { count: 1 }, ['a3', 'a1', 'a2'], ['a2', 'a3']],
  ['by age, a day later', { ageMs: 2.5 * DAY_MS }, ['a1', 'a2', 'a4', 'a5'], ['a5']],
  ['by age, not at the limit', { ageMs: 2 * DAY_MS }, ['a0', 'a1', 'a3', 'a4'], ['a4']],
  ['none by age after a pause, or a jump ahead', { ageMs: DAY_MS }, ['a0', 'a90', 'a91'], []],
  ['by age on the day after that', { ageMs: DAY_MS }, ['a0', 'a1', 'a90'], ['a90']],
  ['by number, one from the future', { count: 2 }, ['a1', 'a-900@2', 'a3'], ['a3']],
  ['by number, one from the future that is the oldest', { count: 1 }, ['a1', 'a-9@4'], ['a-9@4']],
  ['none by age with a slow clock', { ageMs: 9 * DAY_MS }, ['a9000@1', 'a9001@2', 'a3'], []],
  ['none by age that a slow clock made', { ageMs: 9 * DAY_MS }, ['a1', 'a2', 'a9000@3', 'a4'], []],
  ['by size of all', { bytes: 25 }, ['a1', 'a2', 'a3'], ['a3']],
  ['the newest complete one stays, however old', { ageMs: DAY_MS }, ['a9'], []],
  ['and however large', { bytes: 1 }, ['a1', 'a2'], ['a2']],
  ['also when a newer one is damaged', { count: 1 }, ['b1', 'a2', 'a3'], ['b1', 'a3']],
  ['a damaged one that has a successor', {}, ['a1', 'b2', 'a3'], ['b2']],
  ['a damaged one without a successor stays', {}, ['b1', 'a2'], []],
  ['damaged ones only', { count: 1 }, ['b1', 'b2'], ['b2']],
  [
    'by number, a damaged one between two of another order',
    { count: 1 },
    ['a5@1', 'b4', 'a3@2'],
    ['a3@2', 'b4'],
  ],
];
for (const [title, limits, all, expired] of cases) {
  t.test(`expired: ${title}`, async (t) => {
    const found = expiredBackups(all.map(backup), { ...generous, ...limits });
    t.strictSame(
      found.map(({ name }) => name),
      expired,
    );
  });
}

t.test('damaged ones count with what they take, also where none is complete', async (t) => {
  const all = ['b1', 'b2', 'b3'].map((name) => ({ ...backup(name), bytes: 10 }));
  t.strictSame(
    expiredBackups(all, { ...generous, bytes: 20 }).map(({ name }) => name),
    ['b3'],
  );
});

const rooms: [title: string, all: string[], missing: number, deleted: string[] | undefined][] = [
  ['enough is free', ['a1', 'a2'], -5, []],
  ['the oldest is enough', ['a1', 'a2', 'a3'], 10, ['a3']],
  ['two are needed', ['a1', 'a2', 'a3'], 11, ['a3', 'a2']],
  ['the newest complete one is not deleted', ['a1', 'a2'], 11, undefined],
  ['none is there', [], 1, undefined],
];
for (const [title, all, missing, deleted] of rooms) {
  t.test(`room: ${title}`, async (t) => {
    const found = makingRoom(all.map(backup), missing);
    t.strictSame(
      found?.map(({ name }) => name),
      deleted,
    );
  });
}
