/** A sealed node asks the URL of its factory, by the real curl; servers are of all kinds. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { arrive } from '../../../agents/reconfigure/arrive.ts';
import { askAgain } from '../../../agents/reconfigure/ask-again.ts';
import { siteChange } from '../../../lib/change/site/request.ts';
import { factoryHost, SITE } from '../../unit/agents/reconfigure/site-host.ts';
import { type Answer, answering, fileOf, openSite, redirect } from '../../unit/payload/site.ts';
import { images, skipWithout } from '../media/images.ts';
import { makeMedia } from './media.ts';

const skip = await skipWithout('xorriso', 'bsdtar', 'curl', 'ssh-keygen');
const POLICY = '/etc/sno-agents/factory.json';
const ASKED = '/run/sno-agents/reconfigure/asked.json';
const PATH = '/factory/sn-0042.site';
const MAIN = join(import.meta.dirname, '../../../agents/main.ts');

const READER = `case "$*" in
*" reconfigure read-medium iso9660 -") exec ${process.execPath} ${MAIN} reconfigure read-medium iso9660 - ;;
*) exit 9 ;;
esac`;

/** What the server has: an ISO with the files of a folder. */
function isoOf(folder: string): Buffer {
  const image = `${folder}.iso`;
  rmSync(image, { force: true });
  images.iso9660(folder, image);
  return readFileSync(image);
}

/** A sealed host whose factory has fixed a URL, and a server there. */
async function asking(t: Test, answers: (base: Media) => Promise<Record<string, Answer>>) {
  const media = await makeMedia(t.testdir({ media: {} }));
  const site = await openSite(await answers(media));
  t.teardown(() => site.close());
  const host = await factoryHost(t, { programs: 'real' });
  const policy = JSON.parse(host.read(POLICY));
  const allowedSigners = [media.integrator.text];
  const siteUrl = `${site.url}/factory/`;
  host.write(POLICY, JSON.stringify({ ...policy, allowedSigners, siteUrl }));
  host.write('/sys/class/dmi/id/product_serial', 'SN-0042\n');
  host.programs.give('nm-online', 'true');
  host.programs.give('systemd-run', READER);
  const systemctl = 'start --no-block reconfigure.service';
  host.programs.give('systemctl', `[ "$*" = "${systemctl}" ] || exit 9`);
  const look = () => arrive(host.paths, AbortSignal.timeout(100_000));
  /** What the timer runs, ten minutes later. */
  const later = () => {
    const asked = host.has(ASKED) ? JSON.parse(host.read(ASKED)) : undefined;
    if (asked !== undefined) host.write(ASKED, JSON.stringify({ ...asked, up: asked.up - 600 }));
    return askAgain(host.paths);
  };
  const started = () => host.programs.calls('systemctl').length;
  return { host, site, media, look, later, started };
}
type Media = Awaited<ReturnType<typeof makeMedia>>;

const good = async (media: Media): Promise<Record<string, Answer>> => ({
  [PATH]: fileOf(isoOf(await media.medium('good', { config: SITE }))),
});

t.test('the volume is fetched, verified and accepted', { skip }, async (t) => {
  const { host, site, look } = await asking(t, good);
  t.match(await look(), { kind: 'request', request: { volume: { serial: 7 } } });
  t.same(site.asked, [`GET ${PATH}`]);
  const calls = host.programs.calls('systemd-run').join('\n');
  t.match(calls, /DynamicUser=yes.*PrivateNetwork=yes/);
  t.notMatch(calls, /DeviceAllow/);
  t.equal(host.read('/var/lib/sno-agents/reconfigure/site/site-config.yaml'), SITE);
});

t.test(
  'it is asked once in five minutes, and only while the host is sealed',
  { skip },
  async (t) => {
    const { host, site, look, later } = await asking(t, async () => ({}));
    t.match(await look(), { kind: 'nothing', note: /no site volume from http.*404/ });
    t.match(await look(), { kind: 'nothing', note: 'no site volume is inserted' });
    t.equal(await askAgain(host.paths), undefined, 'the timer does not ask at once either');
    t.same(site.asked, [`GET ${PATH}`]);
    host.remove('/etc/sno-agents/sealed');
    t.equal(await later(), undefined);
    t.match(await look(), { kind: 'nothing', note: 'no site volume is inserted' });
    t.equal(site.asked.length, 1);
  },
);

t.test('a volume that is published later is fetched once, and carried out', { skip }, async (t) => {
  let published: Answer = answering(404);
  const { host, site, media, look, later, started } = await asking(t, async () => ({
    [PATH]: (request, response) => published(request, response),
  }));
  t.match(await look(), { kind: 'nothing', note: /404/ });
  t.equal(await later(), undefined, 'the answer that the boot has said');
  t.equal(await later(), undefined);
  published = answering(503);
  t.match(await later(), /no site volume from http.*503/);
  t.equal(await later(), undefined);
  t.equal(started(), 0);
  published = fileOf(isoOf(await media.medium('good', { config: SITE })));
  t.match(await later(), /a site volume from http.*: reconfigure\.service judges it/);
  t.match(JSON.parse(host.read(ASKED)).answer, /judges it/, 'the next other answer is said again');
  t.equal(started(), 1);
  t.equal(site.asked.length, 6);
  t.match(await look(), { kind: 'request', request: { volume: { serial: 7 } } });
  t.equal(site.asked.length, 6, 'it is not fetched again');
  t.notOk(host.has('/run/sno-agents/reconfigure/fetched.iso'));
  t.equal(await later(), undefined, 'while it is carried out, nobody asks');
  t.equal(site.asked.length, 6);
});

t.test('a volume that was refused is not judged again until it differs', { skip }, async (t) => {
  let published: Answer = answering(404);
  const { host, media, look, later, started } = await asking(t, async () => ({
    [PATH]: (request, response) => published(request, response),
  }));
  const strange = { config: SITE, sign: media.stranger.sign };
  published = fileOf(isoOf(await media.medium('strange', strange)));
  await t.rejects(look(), { code: 'site-volume-refused' });
  t.match(await later(), /is the one that was judged before/);
  t.equal(await later(), undefined);
  t.equal(started(), 0);
  t.notOk(host.has('/run/sno-agents/reconfigure/fetched.iso'));
  published = fileOf(isoOf(await media.medium('good', { config: SITE })));
  t.match(await later(), /judges it/);
  t.equal(started(), 1);
  t.match(await look(), { kind: 'request' });
});

t.test('a volume that another change was in the way of is judged later', { skip }, async (t) => {
  const { host, look, later } = await asking(t, good);
  const request = '/var/lib/sno-agents/sno-update/request.json';
  host.write(`${request}.asked`, '{}');
  // It is requested while the volume is read.
  host.programs.give('systemd-run', `cp "$ROOT${request}.asked" "$ROOT${request}"\n${READER}`);
  await t.rejects(look(), { kind: 'usage', message: /an update is under way/ });
  host.remove(request);
  host.programs.give('systemd-run', READER);
  t.match(await later(), /judges it/);
  t.match(await look(), { kind: 'request' });
});

t.test('a medium comes first, and what was fetched does not stay', { skip }, async (t) => {
  const { host, later, look } = await asking(t, good);
  t.match(await later(), /judges it/);
  host.remove('/etc/sno-agents/sealed');
  t.match(await look(), { kind: 'nothing', note: 'no site volume is inserted' });
  t.notOk(host.has('/run/sno-agents/reconfigure/fetched.iso'));
});

t.test('without a link it says so, and waits for a medium', { skip }, async (t) => {
  const { host, look } = await asking(t, good);
  host.programs.give('nm-online', 'exit 1');
  t.match(await look(), {
    kind: 'nothing',
    note: /no site volume is inserted\nno site volume from.*nm-online/,
  });
});

const endless: Answer = (_, response) => {
  const send = () => {
    while (response.write('x'.repeat(65_536)));
    response.once('drain', send);
  };
  send();
};

type Hostile = (media: Media) => Promise<Answer> | Answer;
const NOTHING: readonly (readonly [name: string, answer: Hostile, says: RegExp])[] = [
  ['an error', () => answering(500), /500/],
  ['a body without end', () => endless, /too large/],
  ['17 MiB and more', () => fileOf(Buffer.alloc((17 << 20) + 1)), /too large/],
  ['a redirect to a file of the host', () => redirect('file:///etc/shadow'), /leads elsewhere/],
  ['a redirect to itself', () => redirect(PATH), /redirect/],
  ['an empty body', () => fileOf(''), /cannot be used|no such|ENOENT/],
  ['a page', () => fileOf('<html>not here</html>'), /cannot be used/],
  ['17 MiB of zeros', () => fileOf(Buffer.alloc(17 << 20)), /cannot be used/],
  [
    'an ISO with a link',
    async (media) => {
      const folder = await media.medium('link', { config: SITE });
      symlinkSync('/etc/shadow', join(folder, 'x'));
      return fileOf(isoOf(folder));
    },
    /cannot be used.*symlink/,
  ],
  [
    'an ISO with 65 files',
    async (media) => {
      const folder = await media.medium('many', { config: SITE });
      mkdirSync(join(folder, 'more'));
      for (let at = 0; at < 65; at++) writeFileSync(join(folder, 'more', `${at}`), '');
      return fileOf(isoOf(folder));
    },
    /more than 64 files/,
  ],
];
for (const [name, answer, says] of NOTHING) {
  t.test(`waits for a medium after ${name}`, { skip }, async (t) => {
    const { host, look } = await asking(t, async (media) => ({ [PATH]: await answer(media) }));
    t.match(await look(), { kind: 'nothing', note: says });
    t.equal(await siteChange.read(host.paths), undefined);
    t.notOk(host.has('/run/sno-agents/reconfigure/fetched.iso'));
  });
}

const REFUSED: readonly (readonly [
  name: string,
  volume: Parameters<Media['medium']>[1],
  says: RegExp,
])[] = [
  ['unsigned, although media may be', { config: SITE, sign: undefined }, /is not signed/],
  ['for another host', { config: SITE, hosts: ['sn-0043'] }, /for another node/],
];
for (const [name, volume, says] of REFUSED) {
  t.test(`refused: a volume ${name}`, { skip }, async (t) => {
    const { host, look } = await asking(t, async (media) => ({
      [PATH]: fileOf(isoOf(await media.medium(name, volume))),
    }));
    await t.rejects(look(), { kind: 'usage', message: says });
    t.equal(await siteChange.read(host.paths), undefined);
  });
}

t.test('refused: signed by a stranger', { skip }, async (t) => {
  const { look } = await asking(t, async (media) => ({
    [PATH]: fileOf(isoOf(await media.medium('x', { config: SITE, sign: media.stranger.sign }))),
  }));
  await t.rejects(look(), { code: 'site-volume-refused' });
});
