/** When a change is taken back: a table of what the record, the boot and the uptime say. */
import t from 'tap';
import type { FailureData } from '../../../../lib/base/errors/failure-data.ts';
import {
  hasCounted,
  judgeTrial,
  type TrialVerdict,
  withBoot,
} from '../../../../lib/engine/trial/judge.ts';
import type { EndedTrial, Trial } from '../../../../lib/engine/trial/trial.ts';

const ID = '0b6f7d0e-50a8-4d5f-8f43-0c8a35c2a111';
const OTHER = '0b6f7d0e-50a8-4d5f-8f43-0c8a35c2a222';
const MINUTE = 60;

const trial: Trial = {
  schemaVersion: 1,
  id: ID,
  what: 'the change',
  armedAt: '2030-01-01T00:00:00Z',
  deadlineMs: 30 * MINUTE * 1000,
  bootsCount: 1,
  boots: [{ boot: 'a', up: 1000 }],
  points: { network: { files: [], folders: [] }, files: [], moved: [] },
  problems: [],
};
const requested: FailureData = { code: 'deadline', kind: 'deadline', what: 'it did not settle' };
const ended = (id: string, outcome: EndedTrial['outcome']): EndedTrial => ({
  schemaVersion: 1,
  id,
  what: 'the change',
  endedAt: '2030-01-01T00:10:00Z',
  outcome,
  problems: [],
});
const inBoots = (...boots: string[]): Trial => ({
  ...trial,
  boots: boots.map((boot) => ({ boot, up: boot === 'a' ? 1000 : 10 })),
});

interface Case {
  readonly name: string;
  readonly trial?: Trial;
  readonly last?: EndedTrial;
  readonly now?: { readonly boot: string; readonly up: number };
  readonly expected: Partial<TrialVerdict> | { readonly kind: 'revert'; readonly reason: object };
}

const CASES: readonly Case[] = [
  { name: 'nothing is on trial', expected: { kind: 'none' } },
  { name: 'an earlier one has ended', last: ended(ID, 'reverted'), expected: { kind: 'none' } },
  {
    name: 'it has begun',
    trial,
    expected: { kind: 'goes-on', leftMs: 30 * MINUTE * 1000, bootsLeft: 1 },
  },
  {
    name: 'an earlier one was taken back',
    trial,
    last: ended(OTHER, 'reverted'),
    expected: { kind: 'goes-on' },
  },
  {
    name: 'a second before its deadline',
    trial,
    now: { boot: 'a', up: 1000 + 30 * MINUTE - 1 },
    expected: { kind: 'goes-on', leftMs: 1000 },
  },
  {
    name: 'at its deadline',
    trial,
    now: { boot: 'a', up: 1000 + 30 * MINUTE },
    expected: { kind: 'revert', reason: { code: 'trial-not-confirmed', found: /in time/ } },
  },
  {
    name: 'after a restart it has the whole time again',
    trial: inBoots('a', 'b'),
    now: { boot: 'b', up: 20 },
    expected: { kind: 'goes-on', leftMs: 30 * MINUTE * 1000 - 10_000, bootsLeft: 0 },
  },
  {
    name: 'its deadline after a restart',
    trial: inBoots('a', 'b'),
    now: { boot: 'b', up: 10 + 30 * MINUTE },
    expected: { kind: 'revert', reason: { found: /in time/ } },
  },
  {
    name: 'one restart too many',
    trial: inBoots('a', 'b', 'c'),
    now: { boot: 'c', up: 10 },
    expected: { kind: 'revert', reason: { expected: /1 restart at most/, found: '2 restarts' } },
  },
  {
    name: 'no restart is allowed',
    trial: { ...inBoots('a', 'b'), bootsCount: 0 },
    now: { boot: 'b', up: 10 },
    expected: { kind: 'revert', reason: { expected: /0 restarts at most/ } },
  },
  {
    name: 'it is being taken back, whatever time and restarts are left',
    trial: { ...trial, reverting: requested },
    expected: { kind: 'revert', reason: requested },
  },
  {
    name: 'it was taken back, and killed before its record was deleted',
    trial: { ...trial, reverting: requested },
    last: ended(ID, 'reverted'),
    expected: { kind: 'ended' },
  },
  {
    name: 'it was confirmed, and killed before its record was deleted',
    trial,
    last: ended(ID, 'confirmed'),
    now: { boot: 'z', up: 10_000 },
    expected: { kind: 'ended' },
  },
  {
    name: 'the clock of the boot goes back: no time is won',
    trial,
    now: { boot: 'a', up: 900 },
    expected: { kind: 'goes-on', leftMs: 30 * MINUTE * 1000 },
  },
];

for (const { name, trial, last, now = { boot: 'a', up: 1000 }, expected } of CASES) {
  t.test(name, async (t) => {
    t.match(judgeTrial({ trial, last }, now), expected);
  });
}

t.test('each boot counts once', async (t) => {
  const now = { boot: 'b', up: 12 };
  t.notOk(hasCounted(trial, now));
  const counted = withBoot(trial, now);
  t.ok(hasCounted(counted, now));
  t.same(counted.boots, [...trial.boots, now]);
  t.equal(withBoot(counted, { boot: 'b', up: 500 }), counted, 'also in a second run');
});
