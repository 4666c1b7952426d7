import t from 'tap';
import { done, notYet, reboot } from '../../../../lib/engine/steps/step.ts';
import { within } from '../../../../lib/engine/steps/within.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';

t.test('a step of a plan has its deadline, and a pause if a retry can help', async (t) => {
  const settings = { ...defaultSettings, etcdMs: 1234, retryMs: 56 };
  const body = {
    name: 'etcd',
    leaves: 'etcd',
    touches: ['etcd' as const],
    input: () => 1,
    holds: async () => true,
    run: async () => done(),
  };
  t.strictSame(within(settings, 'etcdMs', body), { ...body, deadlineMs: 1234 });
  t.strictSame(within(settings, 'etcdMs', { ...body, retries: true }), {
    ...body,
    deadlineMs: 1234,
    retry: { delayMs: 56 },
  });
});

t.test('outcomes', async (t) => {
  t.strictSame(
    [done(), done('x'), notYet('moon'), reboot('kernel')],
    [
      { kind: 'done' },
      { kind: 'done', note: 'x' },
      { kind: 'not-yet', reason: 'moon' },
      { kind: 'reboot', reason: 'kernel' },
    ],
  );
});
