/** Reports by the real curl, to a real HTTPS server that demands a client certificate. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import t, { type Test } from 'tap';
import { collect } from '../../../agents/upkeep/report/collect.ts';
import { reportContext } from '../../../agents/upkeep/report/context.ts';
import { report } from '../../../agents/upkeep/report/report.ts';
import { sendNewest } from '../../../agents/upkeep/report/send-newest.ts';
import { readState, writeState } from '../../../agents/upkeep/report/state.ts';
import { readStatuses } from '../../../agents/upkeep/report/statuses.ts';
import { nodeReportSchema } from '../../../lib/engine/report/node-report.ts';
import { parseReportTo } from '../../../lib/engine/report/read-report-to.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { answering, authority, client, newerThan, type Reaction, receive } from './receiver.ts';

const KIND = { apiVersion: 'sno-agents/v1', kind: 'ReportTo' };
const LIMITS = { signal: AbortSignal.timeout(110_000), deadlineMs: 20_000 };
const HOUR_MS = 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

const hubAt = (server: string) => ({
  ...KIND,
  hub: {
    ...{ server, certificateAuthority: authority.certificate },
    ...{ namespace: 'shops', name: 'berlin', ...client },
  },
});

/** A host that reports there. Its programs are real; curl records how it was called. */
async function reporting(t: Test, to: object) {
  const host = testHost(t, {
    programs: 'real',
    settings: { reportPauseMs: 1, reportRefusedMs: HOUR_MS },
  });
  const folder = t.testdir({});
  const calls = join(folder, 'calls');
  const real = execaSync('which', ['curl']).stdout;
  const before = process.env.PATH;
  writeFileSync(
    join(folder, 'curl'),
    `#!/bin/sh\nprintf '%s\\n' "$*" >> '${calls}'\nenv >> '${calls}'\nexec ${real} "$@"\n`,
  );
  chmodSync(join(folder, 'curl'), 0o755);
  process.env.PATH = `${folder}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  host.write('/etc/sno-agents/report-to.json', JSON.stringify(to), 0o600);
  const context = { ...(await reportContext(host.paths)), settings: host.context.settings };
  const { paths } = host;
  return {
    host,
    context,
    send: async () =>
      sendNewest(
        { ...context, proxy: undefined },
        await collect(paths, await readStatuses(paths)),
        LIMITS,
      ),
    state: () => readState(paths, context.target),
    set: async (more: object) =>
      writeState(paths, { ...(await readState(paths, context.target)), ...more }),
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8') : ''),
  };
}

/** Something that is reported. */
const installed = (completed: string) =>
  JSON.stringify({
    ...{ schemaVersion: 1, version: '1', clusterId: 'x', cluster: 'a.b', node: 'edge-0' },
    ...{ completed, containerRestarts: [], steps: [] },
  });
const RECORD = '/var/lib/sno-agents/record.json';

t.test('a hub gets the status of its Site, by the certificate of the node alone', async (t) => {
  const hub = await receive(t, [answering(200)]);
  const it = await reporting(t, hubAt(`${hub.url}/`));
  it.host.write(RECORD, installed('2030-01-01T00:00:00.000Z'));
  t.match(await it.send(), { kind: 'accepted' });
  const [asked] = hub.asked;
  t.match(asked, {
    method: 'PATCH',
    url: '/apis/fleet.sno-agents.io/v1alpha1/namespaces/shops/sites/berlin/status?fieldManager=sno-node&force=true',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    client: 'sno:site:shops:berlin',
  });
  t.match(JSON.parse(asked?.body ?? ''), {
    apiVersion: 'fleet.sno-agents.io/v1alpha1',
    kind: 'Site',
    metadata: { name: 'berlin', namespace: 'shops' },
    status: {
      conditions: [
        { type: 'Started', status: 'True' },
        { type: 'Completed', status: 'True' },
        { type: 'Failed', status: 'False' },
      ],
      report: { changes: [{ change: 'install', state: 'done' }] },
    },
  });
  const [secret = ''] = client.key.split('\n').slice(1);
  t.match(it.calls(), '--disable --no-progress-meter --config -');
  t.notMatch(it.calls(), secret, 'no key in arguments or environment');
  t.notMatch(it.calls(), 'sites/berlin', 'nor the URL');
  t.same(readdirSync(join(it.host.paths.run, 'sno-report')), [], 'nothing is left in memory');
  t.equal(it.host.mode('/var/lib/sno-agents/sno-report/state.json'), 0o600);
});

t.test('a hub that has a newer one says so, and the node counts on from there', async (t) => {
  const future = 4_102_444_800;
  const hub = await receive(t, [newerThan(future), answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'accepted' });
  const sequences = hub.asked.map(({ body }) => JSON.parse(body).status.report.sequence);
  t.ok(sequences[0] < future);
  t.equal(sequences[1], future + 1);
  t.equal((await it.state()).sequence, future + 1);
});

t.test('one that always has a newer one is not asked without an end', async (t) => {
  const hub = await receive(t, [
    (asked, response) => newerThan(JSON.parse(asked.body).status.report.sequence)(asked, response),
  ]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'refused', why: /newer than/ });
  t.equal(hub.asked.length, 3);
  t.match(await it.send(), { kind: 'waiting' });
  t.equal(hub.asked.length, 3);
});

t.test('a number that nobody could count on from is a refusal', async (t) => {
  const hub = await receive(t, [newerThan(Number.MAX_SAFE_INTEGER)]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'refused' });
  t.ok((await it.state()).sequence < 1e11);
});

t.test(
  'a number is kept before it is sent, and rises with a clock that was set back',
  async (t) => {
    const hub = await receive(t, [answering(200)]);
    const it = await reporting(t, hubAt(hub.url));
    await it.set({ sequence: 5_000_000_000 });
    await it.send();
    t.equal(JSON.parse(hub.asked[0]?.body ?? '').status.report.sequence, 5_000_000_001);
    await hub.close();
    it.host.write(RECORD, installed('2030-01-01T00:00:00.000Z'));
    t.match(await it.send(), { kind: 'unanswered' });
    t.equal((await it.state()).sequence, 5_000_000_002);
  },
);

t.test('what they know is not sent again, but once a day', async (t) => {
  const hub = await receive(t, [answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'accepted' });
  t.match(await it.send(), { kind: 'known' });
  const { accepted } = await it.state();
  await it.set({ accepted: { ...accepted, at: ago(25 * HOUR_MS) } });
  t.match(await it.send(), { kind: 'accepted' });
  await it.set({ accepted: { ...accepted, at: ago(-HOUR_MS) } });
  t.match(await it.send(), { kind: 'accepted' }, 'the clock was set back meanwhile');
  it.host.write(RECORD, installed('2030-01-01T00:00:00.000Z'));
  t.match(await it.send(), { kind: 'accepted' }, 'news');
  t.equal(hub.asked.length, 4);
});

t.test('a refusal is not repeated before its time', async (t) => {
  const message = 'sites.fleet.sno-agents.io "berlin" is forbidden';
  const hub = await receive(t, [answering(403, { message }), answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'refused', why: `status 403: ${message}` });
  t.match(await it.send(), { kind: 'waiting' });
  await it.set({ refused: { at: ago(2 * HOUR_MS), why: 'x' } });
  t.match(await it.send(), { kind: 'accepted' });
  t.equal((await it.state()).refused, undefined);
});

t.test('another report-to.json is another one to report to', async (t) => {
  const hub = await receive(t, [answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  await it.send();
  const other = await readState(it.host.paths, 'another');
  t.strictSame(Object.keys(other).toSorted(), ['schemaVersion', 'sequence', 'target']);
  t.equal(other.sequence, (await it.state()).sequence);
});

t.test('no redirect is followed', async (t) => {
  const elsewhere = await receive(t, [answering(200)]);
  for (const status of [301, 307, 308]) {
    const hub = await receive(t, [answering(status, '', { location: `${elsewhere.url}/` })]);
    const it = await reporting(t, hubAt(hub.url));
    t.match(await it.send(), { kind: 'refused', why: /redirect is not followed/ });
  }
  t.same(elsewhere.asked, []);
});

t.test('a huge answer is not read to its end', async (t) => {
  const endless: Reaction = (_, response) => {
    const send = () => {
      while (response.write('x'.repeat(100_000)));
      response.once('drain', send);
    };
    send();
  };
  const hub = await receive(t, [endless]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'refused', why: /answers with too much/ });
});

t.test(
  'a server of another authority, and a node without the certificate, are no pair',
  async (t) => {
    const hub = await receive(t, [answering(200)]);
    const { createAuthority, issueLeaf } = await import('../../../lab/certificates/signed-now.ts');
    const stranger = await createAuthority('stranger');
    const own = await issueLeaf(stranger, { subject: { commonName: 'x' }, usage: 'client' });
    const to = hubAt(hub.url);
    for (const hub of [
      { ...to.hub, certificateAuthority: stranger.certificate },
      { ...to.hub, ...own },
    ]) {
      const it = await reporting(t, { ...to, hub });
      t.match(await it.send(), { kind: 'unanswered' });
    }
    t.same(hub.asked, []);
  },
);

t.test('a URL gets the report itself, with a token', async (t) => {
  const site = await receive(t, [answering(204, '')], { anyClient: true });
  const token = 'a"b\\c~tokenofthesite';
  const it = await reporting(t, {
    ...KIND,
    url: `${site.url}/reports?x=1`,
    certificateAuthority: authority.certificate,
    token,
  });
  t.match(await it.send(), { kind: 'accepted' });
  const [asked] = site.asked;
  t.match(asked, {
    method: 'POST',
    url: '/reports?x=1',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  });
  t.ok(nodeReportSchema.safeParse(JSON.parse(asked?.body ?? '')).success);
  t.notMatch(it.calls(), 'tokenofthesite');
});

t.test('a run sends what is new, and ends without an error when nobody answers', async (t) => {
  const hub = await receive(t, [answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  const run = (leftMs: number) =>
    report.run(it.context, it.host.progress(AbortSignal.timeout(60_000), leftMs));
  t.match(await run(60_000), { kind: 'done', note: 'it is known' });
  t.equal(hub.asked.length, 1);
  await hub.close();
  it.host.write(RECORD, installed('2030-01-01T00:00:00.000Z'));
  t.match(await run(12_000), { kind: 'done', note: /no answer, and it is kept/ });
  t.match(await it.state(), { unanswered: { why: /does not answer/ } });
  const again = await receive(t, [answering(200)], { port: hub.port });
  t.match(await run(60_000), { kind: 'done', note: 'it is known' });
  t.equal(again.asked.length, 1);
  t.equal((await it.state()).unanswered, undefined);
});

t.test('another report-to.json ends a run: what comes is for the new one', async (t) => {
  const hub = await receive(t, [answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  it.host.write('/etc/sno-agents/report-to.json', JSON.stringify(hubAt('https://other.example')));
  const progress = it.host.progress(AbortSignal.timeout(60_000), 60_000);
  t.match(await report.run(it.context, progress), {
    kind: 'done',
    note: /another report-to\.json/,
  });
  t.equal(hub.asked.length, 0);
});

t.test('a server that is up again gets the report in the same run', async (t) => {
  const hub = await receive(t, [answering(503), answering(429), answering(200)]);
  const it = await reporting(t, hubAt(hub.url));
  t.match(await it.send(), { kind: 'unanswered', why: /503/ });
  t.match(await it.send(), { kind: 'unanswered', why: /429/ });
  t.match(await it.send(), { kind: 'accepted' });
  t.doesNotThrow(() => parseReportTo(it.host.read('/etc/sno-agents/report-to.json'), 'x'));
});
