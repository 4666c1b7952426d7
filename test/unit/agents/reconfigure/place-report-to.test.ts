/** To whom a host reports, as its volume says. */
import t from 'tap';
import { placeReportTo } from '../../../../agents/reconfigure/place-report-to.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { testHost } from '../host/host.ts';

const FILE = '/etc/sno-agents/report-to.json';
const { signal } = new AbortController();
const contents = Buffer.from('{"url":"https://hub.example.test"}');

t.test('it is written for root alone, and what reports is started after it', async (t) => {
  const host = testHost(t);
  host.programs.give('systemctl', `[ -f "$ROOT${FILE}" ]`);
  await waitsForEachEffect(t, () => placeReportTo(host.paths, contents, signal));
  t.equal(host.read(FILE), contents.toString());
  t.equal(host.mode(FILE), 0o600);
  t.same(
    host.programs.calls('systemctl'),
    ['path', 'timer', 'service'].map((kind) => `systemctl start --no-block sno-report.${kind}`),
  );
});

t.test('a volume that names nobody leaves what the host has', async (t) => {
  const host = testHost(t);
  host.write(FILE, 'of the factory');
  await placeReportTo(host.paths, undefined, signal);
  t.equal(host.read(FILE), 'of the factory');
  t.same(host.programs.calls(), []);
});

t.test('what cannot be started refuses no site, unless the host is told to stop', async (t) => {
  const host = testHost(t);
  host.programs.give('systemctl', 'exit 1');
  await placeReportTo(host.paths, contents, signal);
  t.equal(host.programs.calls('systemctl').length, 3, 'each is tried');
  const stop = new AbortController();
  const stopped = thrownBy(placeReportTo(host.paths, contents, stop.signal));
  stop.abort(new Error('told to stop'));
  t.match(await stopped, { message: 'told to stop' });
});
