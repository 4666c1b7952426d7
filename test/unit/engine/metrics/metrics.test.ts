import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { Decisions } from '../../../../agents/upkeep/approve/decisions.ts';
import { backupMetrics } from '../../../../agents/upkeep/backup/metrics.ts';
import { pushMetrics } from '../../../../agents/upkeep/backup-push/main.ts';
import { recordAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { measureRenewal } from '../../../../agents/upkeep/renew/metrics.ts';
import {
  createAuthority,
  createLaptopAuthorities,
} from '../../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { writePushState } from '../../../../lib/change/backup/push/state.ts';
import type { Decision } from '../../../../lib/cluster/csr/decision.ts';
import { steadyMetrics } from '../../../../lib/cluster/steady/metrics.ts';
import { exposition } from '../../../../lib/engine/metrics/exposition.ts';
import { METRICS, sample } from '../../../../lib/engine/metrics/metrics.ts';
import { writeMetrics } from '../../../../lib/engine/metrics/write.ts';
import { createSuccessor } from '../../../../lib/pki/authority.ts';
import {
  authorityPaths,
  laptopAdminCa,
  mediumServingCa,
} from '../../../../lib/render/kubernetes/authorities.ts';
import { testHost } from '../../agents/host/host.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';

const docs = join(import.meta.dirname, '../../../../docs');
const FOLDER = '/var/lib/sno-agents/metrics';

t.test('samples are written in the text format, those of a metric together', async (t) => {
  const text = exposition([
    sample('sno_backups', { state: 'complete' }, 2),
    sample('sno_agent_last_run_success', { agent: 'a "b"\\\n' }, true),
    sample('sno_backups', { state: 'damaged' }, 0),
    sample('sno_steady_judged_timestamp_seconds', {}, new Date(1_500)),
  ]);
  t.equal(
    text,
    `# HELP sno_agent_last_run_success ${METRICS.sno_agent_last_run_success.help}
# TYPE sno_agent_last_run_success gauge
sno_agent_last_run_success{agent="a \\"b\\"\\\\\\n"} 1
# HELP sno_backups ${METRICS.sno_backups.help}
# TYPE sno_backups gauge
sno_backups{state="complete"} 2
sno_backups{state="damaged"} 0
# HELP sno_steady_judged_timestamp_seconds ${METRICS.sno_steady_judged_timestamp_seconds.help}
# TYPE sno_steady_judged_timestamp_seconds gauge
sno_steady_judged_timestamp_seconds 1.5
`,
  );
  t.equal(exposition([]), '');
});

t.test('names follow the rules of Prometheus', async (t) => {
  for (const [name, { help, labels }] of Object.entries(METRICS)) {
    t.match(name, /^sno_[a-z]+(_[a-z]+)*$/);
    t.notMatch(
      name,
      /_(total|count|sum|ms|minutes|hours|days|age)$/,
      `${name}: a gauge in base units`,
    );
    t.match(help, /\.$/, name);
    for (const label of labels) t.match(label, /^[a-z]+(_[a-z]+)*$/);
  }
});

t.test('every metric says who writes it, and has the labels of the table', async (t) => {
  const host = testHost(t);
  writeBackup(join(host.at('/var/lib/sno-agents/backups'), '20300102T030405Z'));
  const verdict = steadyMetrics({
    schemaVersion: 1,
    time: '1970-01-01T00:00:09.000Z',
    since: '1970-01-01T00:00:03.000Z',
    bootId: 'x',
    state: 'steady',
    windowSeconds: 1,
    findings: [],
    changed: [],
  });
  await writePushState(host.paths, {
    ...{ schemaVersion: 1, target: 'x' },
    stored: {
      name: '20300102T030405Z',
      at: '2030-01-03T00:00:00.000Z',
      url: 'x',
      bytes: 1,
      sha256: 'x',
    },
  });
  const pushed = await pushMetrics(host.paths);
  t.match(pushed, [{ value: Date.parse('2030-01-02T03:04:05Z') / 1000 }], 'when it was made');
  const written = {
    'sno-backup': await backupMetrics(host.paths),
    'sno-backup-push': pushed,
    'wait-steady': verdict,
  };
  for (const [program, samples] of Object.entries(written)) {
    for (const { name, labels } of samples) {
      const { writtenBy, labels: listed } = METRICS[name];
      t.ok(
        writtenBy.some((each) => each === program),
        `${name} is written by ${program}`,
      );
      t.same(Object.keys(labels).toSorted(), [...listed].toSorted(), name);
    }
  }
  for (const [name, { writtenBy }] of Object.entries(METRICS)) t.not(writtenBy.length, 0, name);
});

t.test('a file is replaced as a whole, and everybody can read it', async (t) => {
  const { umask } = process;
  const before = umask(0o077);
  t.teardown(() => umask(before));
  const host = testHost(t);
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  const steady = (is: boolean) => async () => [sample('sno_steady', {}, is)];
  await writeMetrics(host.context, 'sno-steady', steady(false), warn);
  await writeMetrics(host.context, 'sno-steady', steady(true), warn);
  t.match(host.read(`${FOLDER}/sno-steady.prom`), /^sno_steady 1$/m);
  t.equal(host.mode(`${FOLDER}/sno-steady.prom`), 0o644);
  t.equal(host.mode(FOLDER), 0o755);
  t.same(warnings, []);
});

t.test('what cannot be measured or written is a warning', async (t) => {
  const host = testHost(t, { settings: { metricsFolder: '/file/metrics' } });
  host.write('/file', '');
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  await writeMetrics(host.context, 'sno-steady', async () => [], warn);
  await writeMetrics(host.context, 'x', () => Promise.reject(new Error('no figures')), warn);
  t.match(warnings, [/sno-steady\.prom: .*ENOTDIR/, /x\.prom: no figures/]);
});

t.test('certificates with their lifetimes, and what could not be renewed', async (t) => {
  const host = testHost(t);
  const authority = await createAuthority('etcd-ca');
  host.write(authorityPaths('etcd').certificate, authority.certificate);
  const context = { paths: host.paths, run: 'this' };
  const pending = new Failure('fatal', 'left', { code: 'serving-request-pending' });
  await recordAttempts(context, [
    { name: 'etcd-server' },
    { name: 'kubelet-serving', error: pending },
  ]);
  const warnings: string[] = [];
  await measureRenewal(host.context, {
    isDone: false,
    at: new Date(2000),
    warn: (text) => void warnings.push(text),
  });
  t.same(warnings, []);
  const text = host.read(`${FOLDER}/sno-renew.prom`);
  t.match(text, 'sno_agent_last_run_timestamp_seconds{agent="sno-renew"} 2\n');
  t.match(text, 'sno_agent_last_run_success{agent="sno-renew"} 0\n');
  const of = 'certificate="etcd-ca",kind="authority",renewed_by="nobody"';
  const years = Math.round((Date.now() + 3650 * 86_400_000) / 1e8);
  const found = /not_after_timestamp_seconds\{certificate="etcd-ca",.*\} (\d+)/.exec(text)?.[1];
  t.ok(Math.abs(Number(found) / 1e5 - years) <= 1, `${of} expires in ten years`);
  t.match(text, `sno_certificate_not_before_timestamp_seconds{${of}} `);
  t.match(text, 'sno_certificate_renewal_failed{certificate="etcd-server"} 0\n');
  t.match(text, 'sno_certificate_renewal_failed{certificate="kubelet-serving"} 1\n');
  t.match(text, 'sno_kubelet_serving_request_pending 1\n');
  for (const [code, pending] of [
    ['serving-request-missing', 1],
    ['leaf-not-signed', 0],
  ] as const) {
    await recordAttempts(context, [
      { name: 'kubelet-serving', error: new Failure('fatal', 'none', { code }) },
    ]);
    await measureRenewal(host.context, { isDone: false, at: new Date(2000), warn: () => {} });
    const line = `sno_kubelet_serving_request_pending ${pending}\n`;
    t.match(host.read(`${FOLDER}/sno-renew.prom`), line, code);
  }
});

t.test('a CA of the medium while it is in use', async (t) => {
  const figures = async (serving: string, files: Readonly<Record<string, string>> = {}) => {
    const host = testHost(t);
    host.write(authorityPaths('serving').certificate, serving);
    for (const [path, text] of Object.entries(files)) host.write(path, text);
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    await measureRenewal(host.context, { isDone: true, at: new Date(2000), warn });
    t.same(warnings, []);
    const text = host.read(`${FOLDER}/sno-renew.prom`);
    return [...text.matchAll(/^sno_medium_ca_in_use\{ca="(.+)"\} (\d)$/gm)].map((found) =>
      found.slice(1),
    );
  };
  const { servingCa, adminCa } = await createLaptopAuthorities();
  const { certificate: own } = await createSuccessor(servingCa, new Date());
  const laptop = { [laptopAdminCa]: adminCa.certificate };
  t.same(await figures(servingCa.certificate, laptop), [
    ['serving', '1'],
    ['laptop-admin', '1'],
  ]);
  t.same(await figures(own), [
    ['serving', '0'],
    ['laptop-admin', '0'],
  ]);
  t.same(await figures(own, { [mediumServingCa]: own }), [
    ['serving', '1'],
    ['laptop-admin', '0'],
  ]);
  const earlier = { [mediumServingCa]: servingCa.certificate };
  t.same(
    await figures(own, earlier),
    [
      ['serving', '0'],
      ['laptop-admin', '0'],
    ],
    'rotated since',
  );
  t.same(await figures('damaged'), [
    ['serving', '0'],
    ['laptop-admin', '0'],
  ]);
});

t.test('backups by state, and the newest one that can be restored', async (t) => {
  const host = testHost(t);
  const folder = host.at('/var/lib/sno-agents/backups');
  t.notMatch(exposition(await backupMetrics(host.paths)), 'newest');
  writeBackup(join(folder, '20300102T030405Z'));
  // Made when the clock was right again: revisions only increase.
  const etcd = { version: '3.6.0', revision: 71, totalKey: 8 };
  writeBackup(join(folder, '20300101T030405Z'), {}, { etcd });
  host.write('/var/lib/sno-agents/backups/20300103T030405Z/manifest.json', '{}');
  const text = exposition(await backupMetrics(host.paths));
  t.match(text, 'sno_backups{state="complete"} 2\n');
  t.match(text, 'sno_backups{state="damaged"} 1\n');
  const newest = Date.parse('2030-01-01T03:04:05Z') / 1000;
  t.match(text, `sno_backup_newest_timestamp_seconds ${newest}\n`);
  t.match(text, `sno_backup_newest_size_bytes ${'a snapshot'.length}\n`);
});

t.test('the verdict of wait-steady', async (t) => {
  const verdict = {
    schemaVersion: 1 as const,
    time: '1970-01-01T00:00:09.000Z',
    bootId: 'x',
    windowSeconds: 1,
    changed: [],
  };
  const moving = { kind: 'moving', object: 'Pod x', what: 'restarts' } as const;
  const text = exposition(
    steadyMetrics({ ...verdict, state: 'moving', findings: [moving, moving] }),
  );
  t.match(text, 'sno_steady 0\n');
  t.match(text, 'sno_steady_judged_timestamp_seconds 9\n');
  t.match(text, 'sno_steady_findings{kind="moving"} 2\n');
  t.match(text, 'sno_steady_findings{kind="unknown"} 0\n');
  t.notMatch(text, 'sno_steady_since');
  const since = '1970-01-01T00:00:03.000Z';
  const steady = exposition(steadyMetrics({ ...verdict, state: 'steady', since, findings: [] }));
  t.match(steady, 'sno_steady 1\n');
  t.match(steady, 'sno_steady_since_timestamp_seconds 3\n');
});

t.test('requests that are left are counted by rule, until they are approved', async (t) => {
  const decisions = new Decisions();
  const about = (request: string, judgement: Decision['judgement']): Decision => ({
    request,
    requestor: 'system:node:w',
    signer: 'kubernetes.io/kubelet-serving',
    judgement,
  });
  const left = (rule: 'worker' | 'names') =>
    ({ verdict: 'leave', rule, explanation: 'x' }) as const;
  t.equal(decisions.add(about('a', left('worker'))), true);
  t.equal(decisions.add(about('a', left('worker'))), false, 'logged once');
  decisions.add(about('b', left('worker')));
  decisions.add(about('c', left('names')));
  decisions.add(about('b', { verdict: 'approve' }));
  const counts = decisions.metrics().map(({ labels, value }) => [labels.rule, value]);
  t.strictSame(counts, [
    ['names', 1],
    ['worker', 1],
  ]);
});

t.test('alerts use these metrics, and the documentation has each of them', async (t) => {
  const { groups } = parse(readFileSync(join(docs, 'alerts.yaml'), 'utf8'));
  const support = readFileSync(join(docs, 'support.md'), 'utf8');
  const others = ['node_boot_time_seconds'];
  for (const { alert, expr } of groups[0].rules) {
    const names = [...String(expr).matchAll(/\b(?:sno|node)_\w+/g)].map(([name]) => name);
    t.not(names.length, 0, alert);
    for (const name of names) {
      t.ok(Object.hasOwn(METRICS, name) || others.includes(name), `${alert}: ${name}`);
    }
    t.match(support, `| \`${alert}\` |`, `${alert} has a row with what to do`);
  }
});
