/** A change of the site ends once, wherever its last steps are interrupted. */
import t from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { checkSite } from '../../../../agents/reconfigure/check.ts';
import { concludeSite } from '../../../../agents/reconfigure/conclude.ts';
import { confirmSite } from '../../../../agents/reconfigure/confirm.ts';
import { siteOrBack } from '../../../../agents/reconfigure/or-back.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { readLast, readTrial } from '../../../../lib/engine/trial/store.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { keptHost } from './kept-host.ts';
import { arrived, SITE, STATE } from './site-host.ts';

/** As sno-trial judges it: what it finds of a trial that has ended, it deletes. */
async function isOnTrial({ paths }: TestHost): Promise<boolean> {
  const trial = await readTrial(paths);
  return trial !== undefined && (await readLast(paths))?.id !== trial.id;
}

t.test('confirm and conclude: either it goes back, or it is configured', async (t) => {
  const { host, context, run, keep, again } = await keptHost(t, SITE);
  await run(armSite);
  host.write('/var/lib/sno-agents/sno-trial/etcd/member/snap/db', 'the database');
  host.write(`${STATE}/credentials.json`, 'the keys of the site', 0o600);
  keep();
  await killedAtAnyMoment(t, {
    prepare: again,
    async run({ run, holds }) {
      if (!(await holds(confirmSite))) await run(confirmSite);
      if (!(await holds(concludeSite))) await run(concludeSite);
    },
    async allowed(_, when) {
      const mayGoBack = await isOnTrial(host);
      const isWanted = (await siteChange.read(host.paths)) !== undefined;
      const { outcome } = (await siteChange.last(host.paths)) ?? {};
      t.ok(mayGoBack || isWanted || outcome === 'configured', `${when}: it is not forgotten`);
      t.notOk(mayGoBack && outcome !== undefined, `${when}: it has not ended on trial`);
      t.ok(!isWanted || host.has(`${STATE}/site/site-config.yaml`), `${when}: it can go on`);
    },
    // The folder of the volume, if it is left, is deleted at the next look for one.
    result: async () => ({
      outcome: (await siteChange.last(host.paths))?.outcome,
      isOnTrial: await isOnTrial(host),
      request: await siteChange.read(host.paths),
      staged: host.has(`${STATE}/credentials.json`),
      wayBack: host.has(`${STATE}/before`),
      id: context.request.id,
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('conclude: what waits for its kind begins only where the site stays', async (t) => {
  const begun = ({ programs }: TestHost) =>
    programs.calls('systemctl start --no-block sno-deferred');
  for (const [isKept, count] of [
    [true, 1],
    [false, 0],
  ] as const) {
    const { host, context, run } = await arrived(t, { config: SITE });
    host.write('/etc/systemd/system/sno-deferred.service');
    // Whether it starts is no part of the site: the next boot starts it, too.
    host.programs.give('systemctl', 'case "$*" in *sno-deferred*) exit 1 ;; esac');
    host.write(`${STATE}/credentials.json`, 'the keys of the site', 0o600);
    if (isKept) {
      await run(armSite);
      await run(confirmSite);
      await run(concludeSite);
    } else {
      await siteOrBack(checkSite).instead?.(context, new Failure('fatal', 'no adapter'));
      await t.rejects(run(concludeSite), /no adapter/);
    }
    t.equal(begun(host).length, count);
    t.notOk(host.has(`${STATE}/credentials.json`));
  }
});
