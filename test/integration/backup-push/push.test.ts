/** A backup that leaves its host by the real curl, to a real HTTPS server that does what servers do. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readPortable } from '../../../lib/change/backup/portable/read.ts';
import { decrypterFor } from '../../../lib/change/backup/portable/recipients.ts';
import { rotationChange } from '../../../lib/change/rotation/request.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { BY_HOST, KEY_FILE } from '../../unit/change/backup/portable-backup.ts';
import { keys, NEWEST, pushingHost, TO } from './pushing-host.ts';
import { answering, cut, cutWithin, type Reaction, right, storeServer } from './store-server.ts';

const TOKEN = 'a"b\\c~tokenofthesite';
const OBJECT = `/shop/edge-0-${cluster.clusterId}-${NEWEST}.age`;

async function pushing(
  t: Test,
  reactions: readonly (Reaction | typeof right)[] = [],
  minFreeMiB?: number,
) {
  const store = await storeServer(t, reactions);
  const common = { ...TO, certificateAuthority: store.authority };
  const to = { ...common, url: `${store.url}shop/`, token: TOKEN };
  return { store, common, to, ...(await pushingHost(t, to, minFreeMiB)) };
}

t.test('the newest backup is stored, can be restored, and is not sent again', async (t) => {
  const it = await pushing(t);
  t.match(await it.run(), { kind: 'done', note: /\/shop\/edge-0-.*\.age, 1 MiB/, holds: true });
  const [put, get] = it.store.asked;
  const authorization = `Bearer ${TOKEN}`;
  t.match(put, { method: 'PUT', url: OBJECT, headers: { authorization } });
  t.match(get, { method: 'GET', url: OBJECT, headers: { authorization } });
  const file = join(t.testdir({}), 'edge-0.age');
  writeFileSync(file, it.store.stored.get(OBJECT) ?? '');
  const opening = { decrypter: decrypterFor(keys.identity, 'key'), author: BY_HOST };
  const { header, isSigned } = await readPortable(file, opening, {}, AbortSignal.timeout(60_000));
  t.ok(isSigned);
  t.ok(header.manifest.files.some(({ path }) => path === KEY_FILE));

  t.match(await it.run(), { kind: 'done', note: `${NEWEST} is stored already` });
  t.equal(it.store.asked.length, 2);
  t.match(await it.state(), {
    stored: { name: NEWEST, bytes: put?.body.length },
    failed: undefined,
  });
  t.equal(it.host.mode('/var/lib/sno-agents/sno-backup-push/state.json'), 0o600);
  const left = ['/var/lib/sno-agents/sno-backup-push', '/run/sno-agents/sno-backup-push'];
  t.same(
    left.flatMap((path) => readdirSync(it.host.at(path))),
    ['state.json'],
  );
  t.notMatch(it.calls(), 'tokenofthesite', 'no token in arguments or environment');

  it.addBackup('20300104T000000Z');
  await it.run();
  t.match(it.store.asked[2]?.url, '20300104T000000Z');
  await it.run({ ...it.to, url: `${it.store.url}other/` });
  t.match(it.store.asked[4]?.url, '/other/', 'another store has none yet');
});

t.test('what ends in between is sent again in the same run', async (t) => {
  for (const [name, reactions, asked] of [
    ['no answer', [cut], 3],
    ['busy', [answering(503)], 3],
    ['cut while it is read back', [right, cutWithin], 4],
    ['not there yet', [right, answering(404)], 4],
  ] as const) {
    const it = await pushing(t, reactions);
    t.match(await it.run(), { kind: 'done', holds: true }, name);
    t.equal(it.store.asked.length, asked, name);
    t.match(it.host.lines.join(''), /was not stored, and is sent again/);
  }
});

const FAILED = { kind: 'fatal', code: 'backup-not-stored' } as const;

t.test('what would be refused again ends the run, with what to do', async (t) => {
  const elsewhere = await storeServer(t);
  const moved = { location: `${elsewhere.url}x` };
  const skewed = '<Error><Code>RequestTimeTooSkewed</Code></Error>';
  for (const [reactions, says] of [
    [[answering(507)], /status 507\. Free space on the store/],
    [[answering(403)], /status 403\. Correct the key or the token/],
    [[answering(403, skewed)], /RequestTimeTooSkewed\. Correct the clock/],
    [[answering(404)], /status 404\. Create the bucket or the folder/],
    [[answering(413)], /status 413\. Have the store accept files of this size/],
    [[answering(307, '', moved)], /a redirect is not followed/],
    [[right, answering(403)], /was stored, and cannot be read back; .*status 403/],
    [[right, answering(302, '', moved)], /cannot be read back; .*status 302/],
  ] as const) {
    const it = await pushing(t, reactions);
    await t.rejects(it.run(), { ...FAILED, message: says });
    t.equal(it.store.asked.length, reactions.length, 'asked once');
    t.match(await it.state(), { stored: undefined, failed: { name: NEWEST, fix: /\w/ } });
  }
  t.same(elsewhere.asked, []);
});

t.test('a store that has something else, or too much, has no backup', async (t) => {
  const other: Reaction = (asked, response) =>
    answering(200, 'x'.repeat(it.store.stored.get(asked.url)?.length ?? 0))(asked, response);
  const endless: Reaction = (_, response) => {
    const send = () => {
      while (response.write('x'.repeat(100_000)));
      response.once('drain', send);
    };
    send();
  };
  const it = await pushing(t, [right, other]);
  // No time is left for a second attempt.
  await t.rejects(it.run(it.to, 16_000), { ...FAILED, message: /is not what was stored there/ });
  const first = await it.state();
  t.match(first, { failed: { what: /is not what was stored/, found: /SHA-256/ } });
  const much = await pushing(t, [right, endless]);
  await t.rejects(much.run(), { ...FAILED, message: /answers with too much/ });
});

t.test('a failure keeps its first time and what was stored before, until it is over', async (t) => {
  const it = await pushing(t, [right, right, answering(507), answering(507)]);
  await it.run();
  it.addBackup('20300104T000000Z');
  await t.rejects(it.run(), FAILED);
  const { failed } = (await it.state()) ?? {};
  await t.rejects(it.run(), FAILED);
  t.match(await it.state(), { stored: { name: NEWEST }, failed: { since: failed?.since } });
  await it.run();
  t.match(await it.state(), { stored: { name: '20300104T000000Z' }, failed: undefined });
});

t.test('a full disk is left as it is', async (t) => {
  const it = await pushing(t, [], 1e12);
  await t.rejects(it.run(), { ...FAILED, message: /no room for an encrypted copy/ });
  t.same(it.store.asked, []);
});

t.test('nothing leaves while what belongs to a backup is replaced', async (t) => {
  const it = await pushing(t);
  it.host.write(it.host.paths.onHost(rotationChange.requestPath(it.host.paths)), '{}');
  t.match(await it.run(), { kind: 'not-yet', holds: false });
  t.same(it.store.asked, []);
});
