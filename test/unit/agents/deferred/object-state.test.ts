import t from 'tap';
import {
  isApplied,
  isRejected,
  notTried,
  stateAfter,
  stateAtExpiry,
} from '../../../../agents/deferred/object-state.ts';
import type { ApplyAttempt } from '../../../../lib/clients/kube/apply-one.ts';

const now = new Date('2026-03-01T12:00:00Z');
const till = { apiVersion: 'example.com/v1', kind: 'Till' };
const APPLIED = 'applied 2026-03-01T12:00:00.000Z';
const EXPIRED = 'expired 2026-03-01T12:00:00.000Z';

const CASES: readonly { attempt: ApplyAttempt; state: string; expired: string }[] = [
  { attempt: { kind: 'created' }, state: APPLIED, expired: APPLIED },
  {
    attempt: { kind: 'created', warnings: ['unknown field "spec.a"', 'v1 is deprecated'] },
    state: `${APPLIED}, the API warned: unknown field "spec.a"; v1 is deprecated`,
    expired: `${APPLIED}, the API warned: unknown field "spec.a"; v1 is deprecated`,
  },
  {
    attempt: { kind: 'existing' },
    state: `${APPLIED}, it existed already`,
    expired: `${APPLIED}, it existed already`,
  },
  {
    attempt: { kind: 'rejected', reason: 'POST /x: 422 spec.drawers:\n  too many' },
    state: 'rejected: POST /x: 422 spec.drawers: too many',
    expired: 'rejected: POST /x: 422 spec.drawers: too many',
  },
  {
    attempt: { kind: 'unserved', reason: 'the API serves no Till' },
    state: 'waiting for Till in example.com/v1 to be served',
    expired: `${EXPIRED}, waiting for Till in example.com/v1 to be served`,
  },
  {
    attempt: { kind: 'waits', reason: 'namespaces "shop" not found', retryAfterMs: 0 },
    state: 'waiting: namespaces "shop" not found',
    expired: `${EXPIRED}, waiting: namespaces "shop" not found`,
  },
];

for (const { attempt, state, expired } of CASES) {
  t.test(`after ${attempt.kind}`, async (t) => {
    t.equal(stateAfter(attempt, till, now), state);
    t.equal(stateAtExpiry(state, now), expired);
    t.equal(isApplied(state), state.startsWith('applied'));
    t.equal(isRejected(state), attempt.kind === 'rejected');
    const later = new Date(now.getTime() + 60_000);
    t.equal(stateAtExpiry(expired, later), expired, 'what has expired keeps its time');
  });
}

t.test('untried objects expire too, and long reasons are truncated', async (t) => {
  t.equal(stateAtExpiry(notTried, now), `${EXPIRED}, waiting: not tried yet`);
  const rejected = (length: number) =>
    stateAfter({ kind: 'rejected', reason: 'x'.repeat(length) }, till, now);
  t.equal(rejected(1000), `rejected: ${'x'.repeat(1000)}`);
  t.equal(rejected(1001), `rejected: ${'x'.repeat(1000)} …`);
});
