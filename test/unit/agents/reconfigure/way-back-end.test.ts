/** Until when the way back is there, and what ends then. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { concludeSite } from '../../../../agents/reconfigure/conclude.ts';
import { confirmSite } from '../../../../agents/reconfigure/confirm.ts';
import { runReconfigure } from '../../../../agents/reconfigure/main.ts';
import { commit, rollback } from '../../../../agents/reconfigure/way-back.ts';
import { wayBackEnd } from '../../../../agents/reconfigure/way-back-end.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { requestRotation } from '../../../../lib/change/rotation/request.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { type UpdateResult, updateChange } from '../../../../lib/change/update/request.ts';
import { dropTrial, endReverted } from '../../../../lib/engine/trial/arm.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { validityOf } from '../../../../lib/pki/certificate.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import type { TestHost } from '../host/host.ts';
import { requested } from '../upkeep/updating-host.ts';
import { arrived } from './site-host.ts';

const HOUR_MS = 3_600_000;

/** A host at its site; `admin`: PEM of an authority that it had before. */
async function atSite(t: Test, admin?: string, before?: (host: TestHost) => Promise<void>) {
  const it = await arrived(t, before === undefined ? {} : { before });
  const { host, run } = it;
  if (admin !== undefined) host.write(authorityPaths('admin').certificate, admin);
  t.equal(await wayBackEnd(host.paths, it.context.settings), undefined, 'not before its end');
  await run(armSite);
  host.write('/var/lib/sno-agents/sno-trial/etcd/member/snap/db', 'the database');
  // That of the site stays for years.
  if (admin !== undefined) host.write(authorityPaths('admin').certificate, 'of the site');
  await run(confirmSite);
  await run(concludeSite);
  return it;
}

const status = async ({ paths }: Awaited<ReturnType<typeof atSite>>['host']) => {
  const printed: string[] = [];
  await runReconfigure(paths, ['status'], { write: (text) => void printed.push(text) });
  return printed.join('');
};

t.test('the time for which it is kept ends first', async (t) => {
  const { host, context } = await atSite(t);
  const ended = Date.parse((await siteChange.last(host.paths))?.endedAt ?? '');
  const until = new Date(ended + 168 * HOUR_MS).toISOString();
  const end = await wayBackEnd(host.paths, context.settings);
  t.strictSame(end, { until, because: 'the 168 hours end for which it is kept' });
  t.match(
    await status(host),
    `way back: "reconfigure rollback" until ${until}, when the 168 hours`,
  );
  await commit(host.paths);
  t.notMatch(await status(host), 'way back');
});

t.test('an authority of before ends first, which nobody makes again', async (t) => {
  const { certificate } = await createAuthority('admin', 2);
  const { host, context } = await atSite(t, certificate);
  const { notAfter } = validityOf(certificate);
  const because = 'the authority admin expires';
  const end = await wayBackEnd(host.paths, context.settings);
  t.strictSame(end, { until: notAfter.toISOString(), because });
  const late = new Date(notAfter.getTime() + 1000);
  t.match(await thrownBy(rollback(host.paths, context.settings, late)), {
    kind: 'usage',
    message: /whose way back ended .*: the authority admin expires/,
  });
});

t.test('an update since the site ends it, whatever the clock says', async (t) => {
  const id = randomUUID();
  const ended = async (host: TestHost, result: Partial<UpdateResult>) => {
    const versions = { kubernetes: 'v1.34.5', etcd: 'v3.6.8' };
    const request = await requested(host, { text: 'x', payload: 'a'.repeat(64), versions });
    await updateChange.remove(host.paths);
    const endedAt = new Date().toISOString();
    await updateChange.writeResult(host.paths, {
      ...{ ...request, id, endedAt, outcome: 'updated' },
      ...result,
    });
  };
  const { host, context } = await atSite(t, undefined, (it) => ended(it, {}));
  const ask = () => rollback(host.paths, context.settings, new Date());
  t.match(await ask(), { what: 'the site configuration 7' });
  const site = Date.parse((await siteChange.last(host.paths))?.endedAt ?? '');
  for (const ms of [-1000, 1000]) {
    const endedAt = new Date(site + ms).toISOString();
    // Before one that was refused there may have been another one.
    for (const outcome of ['refused', 'reverted', 'updated'] as const) {
      await ended(host, { id: randomUUID(), endedAt, outcome });
      t.match(await thrownBy(ask()), { message: /found an update of/ }, outcome);
    }
    await ended(host, { endedAt });
    t.match(await ask(), { what: 'the site configuration 7' }, 'one before it does not');
  }
});

t.test('the way back is recorded, whatever the clock says', async (t) => {
  const { host, context } = await atSite(t);
  const { go } = await rollback(host.paths, context.settings, new Date());
  host.programs.give('systemctl', 'exit 0');
  await go();
  const trial = await readTrial(host.paths);
  if (trial === undefined) throw new Error('nothing is on trial');
  const signal = AbortSignal.timeout(60_000);
  await endReverted(host.paths, trial);
  await dropTrial(host.paths, trial, signal);
  const result = await siteChange.last(host.paths);
  if (result === undefined) throw new Error('no result');
  // The clock was fast at the site, and was set since.
  await siteChange.writeResult(host.paths, { ...result, endedAt: '2099-01-01T00:00:00.000Z' });
  // At the next boot; the volume is inserted still.
  t.match(await arrive(host.paths, signal), { kind: 'nothing' });
  t.match(await siteChange.last(host.paths), { outcome: 'reverted' });
});

t.test('a change that begins while a person is asked ends it, too', async (t) => {
  const { host, context } = await atSite(t);
  const { go } = await rollback(host.paths, context.settings, new Date());
  await requestRotation(host.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  host.programs.forgetCalls();
  t.match(await thrownBy(go()), { kind: 'usage', message: /a rotation of/ });
  const asked = rollback(host.paths, context.settings, new Date());
  t.match(await thrownBy(asked), { kind: 'usage', message: /a rotation of/ }, 'nobody is asked');
  t.equal(await readTrial(host.paths), undefined);
  t.same(host.programs.calls('systemctl'), [], 'the host does not restart');
});
