import { randomUUID, X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { listCertificates } from '../../../../../agents/steps/certificates/list.ts';
import { collect, digestOf } from '../../../../../agents/upkeep/report/collect.ts';
import { nextSequence } from '../../../../../agents/upkeep/report/send-newest.ts';
import { readStatuses } from '../../../../../agents/upkeep/report/statuses.ts';
import { createAuthority, issueLeaf } from '../../../../../lab/certificates/signed-now.ts';
import type { FailureData } from '../../../../../lib/base/errors/failure-data.ts';
import { writePushState } from '../../../../../lib/change/backup/push/state.ts';
import { identityOf } from '../../../../../lib/change/identity/identity.ts';
import { requestIdentity } from '../../../../../lib/change/identity/request.ts';
import { restoreChange } from '../../../../../lib/change/restore/request.ts';
import { rotationChange } from '../../../../../lib/change/rotation/request.ts';
import { siteChange } from '../../../../../lib/change/site/request.ts';
import { sha256 } from '../../../../../lib/host/files.ts';
import { writeBackup } from '../../../change/backup/backup-folder.ts';
import { input, rendered } from '../../../render/rendered-host.ts';
import { cluster } from '../../host/cluster.ts';
import { testHost } from '../../host/host.ts';

const AT = '2030-01-01T12:00:00.000Z';
const LATER = '2030-01-01T12:20:00.000Z';
const FAILURE: FailureData = {
  code: 'site-link',
  kind: 'fatal',
  what: 'eno1 has no link, password=hunter22',
  expected: 'a link',
  found: 'none at 192.0.2.77',
  fix: 'Check the cable.',
};
const TOLD = {
  code: 'site-link',
  what: 'eno1 has no link, password=<redacted>',
  fix: 'Check the cable.',
};

function reportedHost(t: Test) {
  const host = testHost(t);
  const { paths } = host;
  return {
    paths,
    host,
    status: (agent: string, more: object) =>
      host.write(
        `/run/sno-agents/${agent}/status.json`,
        JSON.stringify({
          ...{ schemaVersion: 1, version: '1', agent, unit: agent, state: 'running', updated: AT },
          ...more,
        }),
      ),
    changes: async () => (await collect(paths, await readStatuses(paths))).changes,
    digest: async () => digestOf(await collect(paths, await readStatuses(paths))),
  };
}

const step = (more: object = {}) => ({
  step: { name: 'network', number: 4, of: 14, attempt: 1, since: AT, until: LATER, ...more },
});
const request = () => ({
  schemaVersion: 1 as const,
  id: randomUUID(),
  at: AT,
  volume: { serial: 3, sha256: 'a' },
  from: identityOf(input),
});
const END = { endedAt: LATER, failure: FAILURE };

t.test('a host of which nothing is known reports who it is', async (t) => {
  const it = reportedHost(t);
  it.host.write('/sys/class/net/eno1/address', '02:00:00:AA:00:01\n');
  it.host.write('/sys/class/dmi/id/product_serial', 'CZ1234\n');
  const { changes, machine } = await collect(it.paths, await readStatuses(it.paths));
  t.strictSame(changes, []);
  t.strictSame(machine, ['cz1234', '02:00:00:aa:00:01']);
});

t.test('an installation: where it is, why it has failed, and its end', async (t) => {
  const it = reportedHost(t);
  it.status('bootkube', { ...step({ waitingFor: 'the API' }) });
  t.match(await it.changes(), [
    {
      change: 'install',
      state: 'running',
      at: AT,
      step: { agent: 'bootkube', number: 4, of: 14, waitingFor: 'the API' },
    },
  ]);
  it.status('bootkube', { state: 'failed', exitCode: 1, failure: FAILURE });
  t.match(await it.changes(), [{ state: 'running', code: 'site-link' }], 'systemd starts it again');
  it.status('bootkube', { state: 'failed', exitCode: 4, failure: FAILURE });
  t.strictSame(await it.changes(), [{ change: 'install', state: 'failed', at: AT, ...TOLD }]);
  it.status('bootkube', { state: 'done' });
  it.status('install-to-disk', { state: 'reboot' });
  t.match(await it.changes(), [{ state: 'running' }]);
  it.host.write(
    '/var/lib/sno-agents/record.json',
    JSON.stringify({
      ...{ schemaVersion: 1, version: '1', clusterId: 'x', cluster: 'a.b', node: 'edge-0' },
      ...{ completed: LATER, containerRestarts: [], steps: [] },
    }),
  );
  t.strictSame(await it.changes(), [{ change: 'install', state: 'done', at: LATER }]);
});

t.test('a relocation: accepted, under way, and each of its ends', async (t) => {
  const it = reportedHost(t);
  const asked = request();
  await siteChange.write(it.paths, asked);
  it.status('reconfigure', step());
  t.match(await it.changes(), [
    { change: 'relocate', state: 'running', at: AT, serial: 3, step: { number: 4 } },
  ]);
  it.status('reconfigure', { state: 'failed', exitCode: 4, failure: FAILURE });
  t.match(await it.changes(), [{ state: 'running', code: 'site-link' }], 'not taken back yet');
  await siteChange.remove(it.paths);
  for (const [outcome, state] of [
    ['reverted', 'takenBack'],
    ['refused', 'refused'],
  ] as const) {
    await siteChange.writeResult(it.paths, { ...asked, ...END, outcome });
    t.strictSame(
      await it.changes(),
      [{ change: 'relocate', state, at: LATER, serial: 3, ...TOLD }],
      `${outcome}; the agent's own status says the same`,
    );
    const what = `conclude: the site configuration 3 was taken back`;
    const failure = { ...FAILURE, what, parts: [FAILURE] };
    const concluded = step({ name: 'conclude', number: 14 });
    const ended = { state: 'failed', exitCode: 4, failure, updated: '2030-01-01T12:20:01.000Z' };
    it.status('reconfigure', { ...concluded, ...ended });
    t.strictSame(
      await it.changes(),
      [{ change: 'relocate', state, at: LATER, serial: 3, ...TOLD }],
      `${outcome}; as the unit ends`,
    );
    it.status('reconfigure', { state: 'failed', exitCode: 4, failure: FAILURE });
  }
  await siteChange.writeResult(it.paths, { ...asked, endedAt: LATER, outcome: 'configured' });
  it.status('reconfigure', { state: 'done' });
  t.strictSame(await it.changes(), [{ change: 'relocate', state: 'done', at: LATER, serial: 3 }]);
});

t.test('a volume that is not even accepted is a refusal of its own', async (t) => {
  const it = reportedHost(t);
  const refusal = { ...FAILURE, code: 'site-volume-refused', what: 'the volume has expired' };
  const refused = { state: 'failed', exitCode: 2, failure: refusal };
  it.status('reconfigure', refused);
  t.match(await it.changes(), [{ change: 'relocate', state: 'refused', code: refusal.code }]);
  await siteChange.writeResult(it.paths, { ...request(), endedAt: AT, outcome: 'configured' });
  it.status('reconfigure', { ...refused, updated: '2030-01-01T11:00:00.000Z' });
  t.match(await it.changes(), [{ state: 'done', serial: 3 }], 'one before the last site');
  it.status('reconfigure', { ...refused, updated: LATER });
  const [change] = await it.changes();
  t.match(change, { state: 'refused', at: LATER, what: 'the volume has expired' });
  t.equal(change?.serial, undefined, 'the serial of the last one is not that of this one');
});

t.test('nothing that was expected or found is told, and nothing secret', async (t) => {
  const it = reportedHost(t);
  await siteChange.writeResult(it.paths, { ...request(), ...END, outcome: 'reverted' });
  it.status('reconfigure', { ...step({ waitingFor: 'https://me:hunter22@mirror' }) });
  await siteChange.write(it.paths, request());
  const text = JSON.stringify(await it.changes());
  t.notMatch(text, '192.0.2.77');
  t.notMatch(text, 'hunter22');
});

t.test('what people and timers do is told, too', async (t) => {
  const it = reportedHost(t);
  const common = { schemaVersion: 1 as const, id: randomUUID(), at: AT };
  await requestIdentity(it.paths, { from: identityOf(input), to: identityOf(input) });
  await rotationChange.write(it.paths, {
    ...common,
    what: { kind: 'encryption' },
    restartWorkloads: false,
  });
  const { id: _, at: __, ...restore } = { ...common, backup: 'x', requestedAt: AT };
  await restoreChange.writeResult(it.paths, { ...restore, failure: FAILURE });
  it.status('sno-rotate', { state: 'failed', exitCode: 4, failure: FAILURE });
  it.status('sno-backup', { state: 'failed', exitCode: 4, failure: FAILURE });
  t.match(await it.changes(), [
    { change: 'restore', state: 'takenBack', at: AT, ...TOLD },
    { change: 'rotate', state: 'failed', at: AT, ...TOLD },
    { change: 'identity', state: 'running' },
    { change: 'backup', state: 'failed', ...TOLD },
  ]);
});

t.test('a backup counts where it is to be stored', async (t) => {
  const it = reportedHost(t);
  const backup = async () => (await it.changes()).find(({ change }) => change === 'backup');
  t.equal(await backup(), undefined);
  const [older, newest] = ['20300102T030405Z', '20300103T030405Z'] as const;
  for (const name of [older, newest])
    writeBackup(it.host.at(`/var/lib/sno-agents/backups/${name}`));
  const made = { older: '2030-01-02T03:04:05.000Z', newest: '2030-01-03T03:04:05.000Z' };
  t.match(await backup(), { state: 'done', at: made.newest }, 'on the host');
  it.host.write('/etc/sno-agents/backup-to.json', 'somewhere');
  t.strictSame(await backup(), { change: 'backup', state: 'running', at: made.newest });
  const stored = { name: older, at: LATER, url: 'https://x.example/', bytes: 1, sha256: 'a' };
  const state = { schemaVersion: 1 as const, target: sha256('somewhere'), stored };
  await writePushState(it.paths, state);
  t.strictSame(await backup(), { change: 'backup', state: 'done', at: made.older });
  const failed = {
    since: AT,
    at: LATER,
    name: newest,
    what: 'x is full, password=hunter22',
    fix: 'y',
  };
  await writePushState(it.paths, { ...state, failed });
  t.strictSame(await backup(), {
    ...{ change: 'backup', state: 'failed', at: AT, code: 'backup-not-stored' },
    ...{ what: 'x is full, password=<redacted>', fix: 'y' },
  });
  const before = await it.digest();
  await writePushState(it.paths, {
    ...state,
    failed: { ...failed, at: '2030-02-01T00:00:00.000Z' },
  });
  t.equal(await it.digest(), before, 'that it fails again is no news');
  it.host.write('/etc/sno-agents/backup-to.json', 'elsewhere');
  t.match(await backup(), { state: 'running' }, 'another store has none yet');
});

t.test('the certificate that ends first is told', async (t) => {
  const it = reportedHost(t);
  const expiry = async () => (await collect(it.paths, await readStatuses(it.paths))).nextExpiry;
  t.equal(await expiry(), undefined);
  const { installation: _, ...description } = cluster;
  it.host.write('/etc/sno-agents/cluster.json', JSON.stringify(description));
  for (const { path, contents, uses } of rendered.files) {
    if (uses.includes('control-plane')) it.host.write(path, contents);
  }
  const first = await expiry();
  t.match(first, { certificate: /\w/, notAfter: /^\d{4}-/ });
  const { items } = await listCertificates(it.paths);
  const ends = items.flatMap(({ kind, notAfter = '' }) => (kind === 'trust' ? [] : [notAfter]));
  t.equal(first?.notAfter, ends.filter((each) => each !== '').toSorted()[0]);
  const authority = await createAuthority('hub');
  const soon = new Date(Date.now() - 360 * 86_400_000);
  const client = await issueLeaf(
    authority,
    { subject: { commonName: 'x' }, usage: 'client' },
    soon,
  );
  const hub = {
    ...{ server: 'https://hub.example', certificateAuthority: authority.certificate },
    ...{ namespace: 'n', name: 's', ...client },
  };
  const to = { apiVersion: 'sno-agents/v1', kind: 'ReportTo', hub };
  it.host.write('/etc/sno-agents/report-to.json', JSON.stringify(to));
  t.match(await expiry(), {
    certificate: 'report',
    notAfter: new X509Certificate(client.certificate).validToDate.toISOString(),
  });
});

t.test('a damaged record keeps nothing else from being told', async (t) => {
  const it = reportedHost(t);
  it.host.write('/var/lib/sno-agents/sno-update/request.json', '{');
  it.status('sno-backup', { state: 'failed', exitCode: 4, failure: FAILURE });
  t.match(await it.changes(), [{ change: 'backup' }]);
});

t.test('its own status, and what a step waits for, are no news', async (t) => {
  const it = reportedHost(t);
  it.status('bootkube', step());
  const before = await it.digest();
  it.status('sno-report', { state: 'failed', failure: FAILURE });
  it.status('bootkube', step({ waitingFor: 'the API' }));
  t.equal(await it.digest(), before);
  it.status('bootkube', step({ number: 5 }));
  t.not(await it.digest(), before);
});

t.test('a number rises by the clock, and whatever the clock does', async (t) => {
  const now = new Date('2030-01-01T00:00:00.700Z');
  t.equal(nextSequence(0, now), 1_893_456_000);
  t.equal(nextSequence(1_893_456_000, now), 1_893_456_001);
  t.equal(nextSequence(9_000_000_000, now), 9_000_000_001);
  t.equal(nextSequence(7, new Date(0)), 8);
});
