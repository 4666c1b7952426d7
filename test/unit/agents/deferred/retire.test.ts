import t, { type Test } from 'tap';
import { retireDeferred } from '../../../../agents/deferred/retire-deferred.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { type ApiAnswer, deferredIdentity, fakeApi, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';

const FOLDER = '/etc/sno-agents/deferred';
const TILL = `${FOLDER}/0001.till.a.json`;
const UNIT = '/etc/systemd/system/sno-deferred.service';
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/sno-agents%3Adeferred';
const inAnHour = () => new Date(Date.now() + 3_600_000);

t.test('retire', async (t) => {
  const identity = [
    deferredIdentity.key,
    deferredIdentity.certificate,
    deferredIdentity.kubeconfig,
  ];
  const state = [
    '/var/lib/sno-agents/sno-deferred/journal.jsonl',
    '/var/lib/sno-agents/bin/sno-deferred',
  ];
  const stays = ['/var/lib/sno-agents/bin/sno-agents', '/etc/sno-agents/cluster.json'];

  async function retiring(t: Test, remove: ApiAnswer = () => ({})) {
    const it = testHost(t);
    for (const path of [...identity, ...state, ...stays, TILL, UNIT]) it.write(path);
    // The unit is disabled last, when no credentials are left.
    const gone = identity.map((path) => `[ ! -e "$ROOT${path}" ]`).join(' && ');
    it.programs.give(
      'systemctl',
      `case "$1" in disable) [ -e "$ROOT${UNIT}" ] && ${gone} ;; daemon-reload) ;; *) exit 97 ;; esac`,
    );
    const { requests } = await fakeApi(t, it, {
      [`DELETE ${ROLE}`]: (request) => {
        t.ok(it.has(deferredIdentity.key), 'the right goes first');
        return remove(request);
      },
    });
    return { it, requests, context: { ...it.context, expires: inAnHour() } };
  }

  t.test('leaves no RBAC, identity, unit, link or state', async (t) => {
    const { it, requests, context } = await retiring(t);
    t.equal(await retireDeferred.holds(context, it.progress()), false, 'before');
    t.same(await retireDeferred.run(context, it.progress()), { kind: 'done' });
    for (const path of [...identity, ...state, TILL, FOLDER, UNIT]) t.notOk(it.has(path), path);
    t.notOk(it.has('/var/lib/sno-agents/sno-deferred'));
    for (const path of stays) t.ok(it.has(path), path);
    t.same(requests, [`DELETE ${ROLE}`]);
    t.same(it.programs.calls(), [
      'systemctl disable --no-reload sno-deferred.service',
      'systemctl daemon-reload',
    ]);
    t.equal(await retireDeferred.holds(context, it.progress()), true, 'after');
    t.same(
      await retireDeferred.run(context, it.progress()),
      { kind: 'done' },
      'again, without an API',
    );
    t.equal(requests.length, 1);
  });

  t.test('what it deletes is synced to the disk before the unit is disabled', async (t) => {
    const { it, context } = await retiring(t);
    const { seen } = await recordFileOperations(t, it.root);
    await retireDeferred.run(context, it.progress());
    const at = (operation: string) => seen.lastIndexOf(operation);
    t.ok(at('rm etc/sno-agents/deferred') >= 0);
    t.ok(at('rm etc/sno-agents/deferred') < at('sync etc/sno-agents'));
    t.ok(at('rm var/lib/sno-agents/sno-deferred') >= 0);
    t.ok(at('rm var/lib/sno-agents/sno-deferred') < at('sync var/lib/sno-agents'));
    t.ok(at('sync var/lib/sno-agents') < at('rm etc/systemd/system/sno-deferred.service'));
    t.equal(seen.at(-1), 'sync etc/systemd/system', 'the unit is last');
  });

  t.test('the right is already revoked', async (t) => {
    for (const code of [403, 404]) {
      const { it, context } = await retiring(t, () => refuse(code));
      t.same(await retireDeferred.run(context, it.progress()), { kind: 'done' }, `${code}`);
    }
  });

  t.test(
    'while the right cannot be revoked, everything is kept for the next attempt',
    async (t) => {
      const { it, context } = await retiring(t, () => refuse(422));
      await t.rejects(retireDeferred.run(context, it.progress()), /refused by the test/);
      for (const path of [...identity, ...state, UNIT]) t.ok(it.has(path), path);
    },
  );
});
