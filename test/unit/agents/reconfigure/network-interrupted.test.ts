/** The network of a site is kept as a whole, wherever its step is interrupted. */
import t from 'tap';
import { isKept, siteNetwork } from '../../../../agents/reconfigure/network.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { keptHost } from './kept-host.ts';
import { SITE, STATE } from './site-host.ts';

const OF_BOOT = '/etc/sno-agents/network.yml';
const DUPLICATES = '/run/NetworkManager/conf.d/90-sno-duplicate-addresses.conf';
/** Keeps what NetworkManager would have at its next start. */
const NMSTATE = `case "$*" in
"apply $ROOT"*) cp "$2" "$ROOT/kept.yml" ;;
esac`;

t.test('network: what counts as kept is in use at the next boot, too', async (t) => {
  const { host, keep, again } = await keptHost(t, SITE);
  host.programs.give('nmstatectl', NMSTATE);
  host.write(OF_BOOT, 'the factory', 0o600);
  keep();
  await killedAtAnyMoment(t, {
    prepare: again,
    async run({ run, holds }) {
      if (!(await holds(siteNetwork))) await run(siteNetwork);
    },
    async allowed({ context }, when) {
      const isInUse = host.has('/kept.yml') && /198\.51\.100\.20/.test(host.read(OF_BOOT));
      t.ok(!(await isKept(context)) || isInUse, when);
    },
    result: async ({ context }) => ({
      isKept: await isKept(context),
      kept: host.has('/kept.yml') && host.read('/kept.yml'),
      ofBoot: host.read(OF_BOOT),
      mode: host.mode(OF_BOOT),
      refusesDuplicates: host.has(DUPLICATES),
      tried: host.has(`${STATE}/network.yml`),
    }),
    least: 12,
    isDurable: true,
  });
});
