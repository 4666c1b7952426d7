/** What sno-approve remembers: who has joined, and what it has decided. */
import t from 'tap';
import { Decisions } from '../../../../agents/upkeep/approve/decisions.ts';
import { expectedOf, recordJoined } from '../../../../agents/upkeep/approve/joined.ts';
import { approvePlan } from '../../../../agents/upkeep/approve/plan.ts';
import type { Decision } from '../../../../lib/cluster/csr/decision.ts';
import { type AllowedWorker, LONGEST_DAYS } from '../../../../lib/cluster/workers/entry.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { testHost } from '../host/host.ts';

const expires = new Date('2030-01-02T00:00:00Z');
const before = new Date(expires.getTime() - 1);
const worker = (name: string): AllowedWorker => ({ name, addresses: ['192.0.2.20'], expires });

t.test('each worker joins by its own entry, and an entry that went is forgotten', async (t) => {
  const host = testHost(t);
  const { paths } = host;
  const all = ['a', 'b', 'c'].map(worker);
  const expected = async (now = before) =>
    (await expectedOf(paths, all, now)).map(({ name }) => name).join();
  t.equal(await expected(), 'a,b,c');
  await recordJoined(paths, all, 'b');
  t.equal(await expected(), 'a,c');
  await recordJoined(paths, all, 'c');
  t.equal(await expected(), 'a', 'those before it have joined, too');
  t.equal(await expected(expires), '', 'nobody after the end');
  await recordJoined(paths, all.slice(0, 2), 'a');
  t.equal(await expected(), 'c', 'whose entry was not in the list');
  const path = '/var/lib/sno-agents/sno-approve/joined.json';
  const right = JSON.parse(host.read(path));
  for (const wrong of ['{', { ...right, schemaVersion: 2 }, { schemaVersion: 1 }]) {
    host.write(path, typeof wrong === 'string' ? wrong : JSON.stringify(wrong));
    t.equal(await expected(), 'a,b,c', 'a damaged record counts as none');
  }
});

t.test('it runs for as long as an entry may wait', async (t) => {
  for (const { deadlineMs } of approvePlan(defaultSettings).steps)
    t.ok(deadlineMs > LONGEST_DAYS * 86_400_000);
});

t.test('each decision is reported once, and again when it changes', async (t) => {
  const decision = (request: string, rule: 'age' | 'worker' | undefined): Decision => ({
    request,
    requestor: 'somebody',
    signer: 'kubernetes.io/kubelet-serving',
    judgement:
      rule === undefined ? { verdict: 'approve' } : { verdict: 'leave', rule, explanation: '' },
  });
  const decisions = new Decisions();
  t.same(decisions.metrics(), []);
  for (const [request, rule, isNew] of [
    ['one', 'worker', true],
    ['two', 'worker', true],
    ['three', 'age', true],
    ['two', 'worker', false],
    ['three', 'worker', true],
    ['three', 'age', false],
    ['four', 'age', true],
    ['four', undefined, true],
  ] as const) {
    t.equal(decisions.add(decision(request, rule)), isNew, `${request}: ${rule}`);
  }
  t.match(decisions.metrics(), [
    { labels: { rule: 'age' }, value: 1 },
    { labels: { rule: 'worker' }, value: 2 },
  ]);
});
