/** The files of a site are in use, wherever the step is interrupted. */
import t from 'tap';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { keptHost } from './kept-host.ts';
import { arrived, SITE, STATE } from './site-host.ts';

const NTP = '198.51.100.123';
const CHRONY = '/etc/chrony.conf';
/** What the running chronyd has read. */
const READ = '/read-by-chronyd';

/** What the next update will render from. */
const inputOf = (host: TestHost): unknown =>
  JSON.parse(host.read('/etc/sno-agents/render-input.json')).cluster.additionalNtpSources;

t.test('files: whoever is killed has not left a file that nobody has read', async (t) => {
  const config = `${SITE}additionalNTPSources: [${NTP}]\n`;
  const { host, keep, again } = await keptHost(t, config);
  host.write(CHRONY, 'server 192.0.2.123 iburst\n');
  host.write(READ, host.read(CHRONY));
  host.programs.give(
    'systemctl',
    `case "$*" in "restart chronyd.service") cp "$ROOT${CHRONY}" "$ROOT${READ}" ;; esac`,
  );
  keep();
  await killedAtAnyMoment(t, {
    isConcurrent: true,
    prepare: again,
    run: ({ run }) => run(placeSiteFiles),
    async allowed({ holds }, when) {
      const isRead = host.read(READ) === host.read(CHRONY);
      if (when.startsWith('power cut')) host.write(READ, host.read(CHRONY));
      else if (!isRead || !`${inputOf(host)}`.includes(NTP))
        t.notOk(await holds(placeSiteFiles), `${when}: it is not done`);
    },
    result: async ({ holds }) => ({
      holds: await holds(placeSiteFiles),
      isRead: host.read(READ) === host.read(CHRONY),
      ofSite: /^server 198\.51\.100\.123 iburst$/m.test(host.read(CHRONY)),
      cluster: JSON.parse(host.read('/etc/sno-agents/cluster.json')).additionalNtpSources,
      input: inputOf(host),
      modes: ['cluster.json', 'render-input.json'].map((name) =>
        host.mode(`/etc/sno-agents/${name}`),
      ),
      left: host.has(`${STATE}/unread.json`),
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('files: trust that a killed agent has written only is taken up', async (t) => {
  const { host, run, request } = await arrived(t, { config: SITE });
  host.programs.give('update-ca-trust', 'exit 0');
  await run(placeSiteFiles);
  t.same(host.programs.calls('update-ca-trust'), [], 'no trust differs');
  const paths = ['/etc/pki/ca-trust/source/anchors/site.crt'];
  host.write(`${STATE}/unread.json`, JSON.stringify({ id: request.id, paths }));
  await run(placeSiteFiles);
  t.equal(host.programs.calls('update-ca-trust').length, 1);
});

t.test('files: the pull secret of the site is for root alone', async (t) => {
  const config = `${SITE}pull_secret: '{"auths":{"a.test":{"auth":"YTpi"}}}'\n`;
  const { host, run } = await arrived(t, { config });
  await run(placeSiteFiles);
  t.match(host.read('/var/lib/kubelet/config.json'), 'a.test');
  t.equal(host.mode('/var/lib/kubelet/config.json'), 0o600);
});
