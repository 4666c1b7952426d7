/** The steps of a restore in a change of the identity: only with a backup. */
import t from 'tap';
import type { RestoreContext } from '../../../../agents/steps/restore/context.ts';
import type { IdentityContext } from '../../../../agents/upkeep/identity/context.ts';
import { fromBackup } from '../../../../agents/upkeep/identity/from-backup.ts';
import { identityPlan } from '../../../../agents/upkeep/identity/plan.ts';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { requestIdentity } from '../../../../lib/change/identity/request.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { input } from '../../render/rendered-host.ts';
import { NAME } from '../backup/backup-host.ts';
import { testHost } from '../host/host.ts';

t.test('a step of a restore runs for the backup of the request, and only for one', async (t) => {
  const host = testHost(t);
  const seen: object[] = [];
  const step = fromBackup(
    {
      ...{ name: 'rebuild', leaves: 'a database', touches: ['disk', 'etcd'], input: () => 'other' },
      holds: async ({ request }: RestoreContext) => seen.push(request) < 0,
      run: async ({ request }: RestoreContext) => done(`restored ${request.backup}`),
    },
    'replace',
  );
  const { input: _input, holds, run, ...others } = step;
  t.same(others, {
    ...{ name: 'rebuild', leaves: 'a database', touches: ['disk', 'etcd'] },
    ...{ neededUntil: 'replace', retries: true },
  });
  const from = identityOf(input);
  const of = async (asked: { backup?: string }): Promise<IdentityContext> => {
    const request = await requestIdentity(host.paths, { from, to: from, ...asked });
    return { ...host.context, request };
  };
  const restoring = await of({ backup: NAME });
  t.equal(step.input(restoring), restoring.request.id);
  t.equal(await holds(restoring, host.progress()), false);
  t.same(seen, [{ backup: NAME, requestedAt: restoring.request.at }]);
  t.match(await run(restoring, host.progress()), { note: `restored ${NAME}` });
  const alone = await of({});
  t.equal(await holds(alone, host.progress()), true);
  t.match(await run(alone, host.progress()), { note: 'not needed' });
  t.equal(seen.length, 1);
});

/** Of every host: what they leave does not depend on the request. */
const OF_OTHERS = ['serving-certificate', 'node-ready', 'steady-state'];

t.test('for another request, each step of a change is done anew', async (t) => {
  const host = testHost(t);
  const from = identityOf(input);
  const first = { ...host.context, request: await requestIdentity(host.paths, { from, to: from }) };
  const next = { ...host.context, request: await requestIdentity(host.paths, { from, to: from }) };
  for (const { name, input } of identityPlan(defaultSettings).steps) {
    if (OF_OTHERS.includes(name)) continue;
    t.strictSame(input(first), first.request.id, name);
    t.strictSame(input(next), next.request.id, name);
  }
});
