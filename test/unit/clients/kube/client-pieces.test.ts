import { getEventListeners } from 'node:events';
import t from 'tap';
import { ChangeSignal } from '../../../../lib/base/wait/change-signal.ts';
import { backoffMs } from '../../../../lib/clients/kube/backoff.ts';
import { builtInGroups } from '../../../../lib/clients/kube/built-in-groups.ts';

t.test("pauses double up to the longest and respect the server's request", async (t) => {
  let chance = 0;
  t.intercept(Math, 'random', { value: () => chance });
  const pauses: [args: Parameters<typeof backoffMs>, shortest: number, longest: number][] = [
    [[0], 75, 100],
    [[1], 75, 100],
    [[2], 150, 200],
    [[3], 300, 400],
    [[6], 2400, 3200],
    [[7], 3750, 5000],
    [[50], 3750, 5000],
    [[50, 0, 1000], 750, 1000],
    [[3, 350], 350, 400],
    [[1, 60_000], 60_000, 60_000],
  ];
  for (const [args, shortest, longest] of pauses) {
    chance = 0;
    t.equal(backoffMs(...args), shortest, `${args}: the shortest`);
    chance = 1;
    t.equal(backoffMs(...args), longest, `${args}: the longest`);
  }
});

t.test('a change during work is not lost, two count as one', async (t) => {
  const signal = new ChangeSignal();
  const stop = new AbortController();
  signal.notify();
  signal.notify();
  await signal.next(stop.signal);
  let isWoken = false;
  const next = signal.next(stop.signal).then(() => {
    isWoken = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(isWoken, false, 'the second change is not told again');
  signal.notify();
  await next;
  t.equal(getEventListeners(stop.signal, 'abort').length, 0, 'it no longer listens');
  const last = signal.next(stop.signal);
  stop.abort(new Error('enough'));
  await t.rejects(last, /enough/);
  signal.notify();
  await t.rejects(signal.next(stop.signal), /enough/, 'the signal comes before a change');
});

/** Output of `kubectl api-versions` for a server without extensions. */
const GROUPS = `admissionregistration.k8s.io apiextensions.k8s.io apiregistration.k8s.io apps
  authentication.k8s.io authorization.k8s.io autoscaling batch certificates.k8s.io
  coordination.k8s.io discovery.k8s.io events.k8s.io flowcontrol.apiserver.k8s.io
  networking.k8s.io node.k8s.io policy rbac.authorization.k8s.io resource.k8s.io
  scheduling.k8s.io storage.k8s.io storagemigration.k8s.io`;

t.test('the built-in groups are those of a plain server', async (t) => {
  t.strictSame([...builtInGroups].sort(), ['', ...GROUPS.split(/\s+/)]);
});
