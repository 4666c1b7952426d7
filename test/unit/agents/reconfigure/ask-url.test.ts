/** What is asked of the factory's URL, with a curl of the test. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { askAgain } from '../../../../agents/reconfigure/ask-again.ts';
import { fetchIso, volumeFrom } from '../../../../agents/reconfigure/ask-url.ts';
import { lastAsked } from '../../../../agents/reconfigure/asked.ts';
import { identityOf } from '../../../../lib/change/identity/identity.ts';
import { siteChange } from '../../../../lib/change/site/request.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { input } from '../../render/rendered-host.ts';
import { testHost } from '../host/host.ts';
import { factoryHost } from './site-host.ts';

const URL = 'https://factory.test/sn-1.site';
const FOLDER = '/run/sno-agents/reconfigure';
const FETCHED = `${FOLDER}/fetched.iso`;
const ASKING = `${FOLDER}/asking.iso`;

/** Continues what is there, as curl does; what the host knows of the URL meanwhile is kept. */
const CURL = `cp "$ROOT${FOLDER}/asked.json" "$ROOT/known.json"
[ -f "$ROOT/served" ] || { echo "404 000 ${URL}"; echo 'it returned 404' >&2; exit 22; }
while [ "$1" != --output ]; do shift; done
cat "$ROOT/served" >> "$2"
echo "200 000 ${URL}"`;

function asking(t: Test, served?: string) {
  const host = testHost(t);
  host.programs.give('nm-online', 'exit 0');
  host.programs.give('prlimit', CURL);
  if (served !== undefined) host.write('/served', served);
  const ask = (signal = AbortSignal.timeout(60_000)) => fetchIso(host.paths, URL, signal);
  return { host, ask };
}

t.test('the whole ISO takes the place of what is there', async (t) => {
  const { host, ask } = asking(t, 'an ISO');
  host.write(FETCHED, 'of an earlier answer');
  host.write(ASKING, 'the beginning of another one');
  let answer: unknown;
  await waitsForEachEffect(t, async () => {
    answer = await ask();
  });
  t.same(answer, { kind: 'iso', sha256: sha256('an ISO') });
  t.equal(host.read(FETCHED), 'an ISO');
  t.notOk(host.has(ASKING));
  t.equal(
    JSON.parse(host.read('/known.json')).url,
    URL,
    'the question is noted before it is asked',
  );
  t.equal(host.programs.calls('nm-online').length, 1, 'once there is a link');
});

t.test('without an answer, what is there stays', async (t) => {
  const { host, ask } = asking(t);
  host.write(FETCHED, 'of an earlier answer');
  t.match(await ask(), { kind: 'none', why: /^no site volume from https:\S+sn-1\.site: .*404/ });
  t.equal(host.read(FETCHED), 'of an earlier answer');
  t.notOk(host.has(ASKING));
});

t.test('a host without a link asks nobody', async (t) => {
  const { host, ask } = asking(t, 'an ISO');
  host.programs.give('nm-online', 'exit 1');
  t.match(await ask(), { kind: 'none', why: /nm-online/ });
  t.same(host.programs.calls('prlimit'), []);
  t.match(await lastAsked(host.paths, URL), { url: URL }, 'it has its turn all the same');
  t.equal(host.mode(FOLDER), 0o700);
});

t.test(
  'what the timer has found is noted before it is judged: both write to one file',
  async (t) => {
    const host = await factoryHost(t);
    const policy = JSON.parse(host.read('/etc/sno-agents/factory.json'));
    const siteUrl = 'https://factory.test';
    host.write('/etc/sno-agents/factory.json', JSON.stringify({ ...policy, siteUrl }));
    host.write('/served', 'an ISO');
    host.programs.give('nm-online', 'exit 0');
    host.programs.give('prlimit', CURL);
    host.programs.give('systemctl', `cp "$ROOT${FOLDER}/asked.json" "$ROOT/at-start.json"`);
    const volume = { serial: 7, sha256: 'a' };
    const at = new Date().toISOString();
    const request = { id: randomUUID(), at, volume, from: identityOf(input) };
    await siteChange.write(host.paths, { schemaVersion: 1, ...request });
    t.equal(await askAgain(host.paths), undefined, 'while one is carried out, nobody asks');
    await siteChange.remove(host.paths);
    t.match(await askAgain(host.paths), /reconfigure\.service judges it$/);
    t.match(JSON.parse(host.read('/at-start.json')), { answer: /judges it$/ });
  },
);

t.test('told to stop, it answers nothing', async (t) => {
  const { host, ask } = asking(t, 'an ISO');
  const stop = AbortSignal.abort(new Error('told to stop'));
  t.match(await thrownBy(ask(stop)), { message: 'told to stop' });
  t.notOk(host.has(FETCHED));
});

t.test('told to stop while the volume is read, nothing is known of it', async (t) => {
  const { host } = asking(t, 'an ISO');
  host.programs.give('systemd-run', 'echo > "$ROOT/reading"; exec sleep 60');
  const ended = await host.stoppedAt('/reading', ({ signal }) =>
    volumeFrom(host.paths, URL, signal),
  );
  t.match(ended, { message: 'told to stop' });
  t.equal((await lastAsked(host.paths, URL))?.judged, undefined);
  t.notOk(host.has(FETCHED), 'it is fetched again');
});

t.test('a volume that cannot be used is known, one that could not be kept is not', async (t) => {
  for (const [reader, judged] of [
    ['echo "found a symlink" >&2; exit 2', sha256('an ISO')],
    // There is no place for the second file.
    [
      'cd "$ROOT" && touch x && tar -cf x.tar x && mv x y && mkdir x && mv y x && tar -rf x.tar x/y && cat x.tar',
      undefined,
    ],
  ] as const) {
    const { host } = asking(t, 'an ISO');
    host.programs.give('systemd-run', reader);
    const answer = await volumeFrom(host.paths, URL, AbortSignal.timeout(60_000));
    t.match(answer, { kind: 'none', why: /^no site volume from https:\S+sn-1\.site: / });
    t.equal((await lastAsked(host.paths, URL))?.judged, judged, reader);
    t.notOk(host.has(FETCHED), 'it is fetched again');
  }
});
