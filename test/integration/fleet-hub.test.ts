/** The files of deploy/fleet and what `sno fleet` prints, at a real API server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import t from 'tap';
import { kubernetesBinary } from '../../lab/servers/binaries.ts';
import { failedRows, failureTable, outcomeTable } from '../../lib/clients/kube/apply-table.ts';
import { objectSchema, type Resource, resources } from '../../lib/clients/kube/resources.ts';
import { sno } from '../unit/cli/run-sno.ts';
import { namespace, root, startHub } from './fleet-hub.ts';

const program = await kubernetesBinary('kubectl', AbortSignal.timeout(60_000));
const { folder, admin, kubeconfig, applied, limits } = await startHub(t);

/** Its output; `input`: what it reads with `-f -`. */
async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const { stdout } = await execa(program, [...args], {
    env: { HOME: folder, KUBECONFIG: kubeconfig },
    cwd: root,
    timeout: 60_000,
    ...(input === undefined ? {} : { input }),
  });
  return stdout;
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const table = join(folder, 'sites.csv');
const ROWS = Array.from(
  { length: 510 },
  (_, at) => `shop-${String(at).padStart(4, '0')},${at < 20 ? '1' : '2'},${at},url`,
);

t.test('the commands of docs/fleet.md prepare a hub', async (t) => {
  const apply = ['apply', '--server-side'];
  const all = await kubectl([...apply, '-k', 'deploy/fleet']);
  t.match(all, /sites\.fleet\.sno-agents\.io serverside-applied/);
  t.ok(all.split('\n').length >= 12, all);
  t.match(await kubectl([...apply, '-f', 'deploy/fleet/web-server.yaml']), /deployment\.apps/);
  t.match(await kubectl([...apply, '-k', 'deploy/fleet']), all, 'and again');
  const copy = await kubectl([...apply, '-f', 'deploy/fleet/copy-pod.yaml']);
  t.equal(copy, 'pod/sno-fleet-copy serverside-applied', 'admitted without a warning');
  const metrics = await kubectl([...apply, '-k', 'deploy/fleet/metrics']);
  t.match(metrics, /deployment\.apps\/sno-fleet-metrics serverside-applied/);
  t.match(metrics, /configmap\/sno-fleet-dashboard/);
});

t.test('the first wave of docs/fleet.md', async (t) => {
  const [, rows = ''] = /```text\n( *site,wave[^`]*)```/.exec(read('docs/fleet.md')) ?? [];
  writeFileSync(table, rows.replaceAll(/^ +/gm, ''));
  const many = join(root, 'docs/examples/many-sites/site-config.yaml');
  const template = readFileSync(many, 'utf8').replace(/^serial: .*$/m, '');
  const dir = t.testdir({ 'site-config.yaml': template });
  const args = ['--table', table, '--template', 'shop', '--template-dir', dir];
  const printed = await sno(['fleet', 'import', ...args]);
  t.equal(printed.code, 0, printed.err);
  t.equal(printed.err, '', 'no notice');
  await kubectl(['apply', '--server-side', '-f', '-'], printed.out);
  const seen = await kubectl(['-n', namespace, 'get', 'sites', '-l', 'wave=1']);
  t.match(
    seen,
    /^NAME +ACTION +DELIVERED +STEP +COMPLETED +FAILED +REASON +AGE\nberlin-0042 +relocate +\d+s$/,
  );
  await kubectl(['-n', namespace, 'delete', 'sites', '--all']);
});

t.test('Sites that import prints are accepted, and counted over several pages', async (t) => {
  writeFileSync(table, `site,wave,number,delivery\n${ROWS.join('\n')}\n`);
  const printed = await sno(['fleet', 'import', '--table', table, '--template', 'shop']);
  t.equal(printed.code, 0, printed.err);
  const rows = await applied('sites', printed.out);
  t.equal(rows.length, 510);
  t.same(failedRows(rows), [], failureTable(rows).slice(0, 3).join('\n'));
  const status = await sno(['fleet', 'status', '--kubeconfig', kubeconfig, '--json']);
  t.equal(status.code, 0, status.err);
  t.match(JSON.parse(status.out), { sites: 510, states: { waiting: 510 } });
  const selected = await sno(['fleet', 'status', '--selector', 'wave=1'], {
    KUBECONFIG: kubeconfig,
  });
  t.match(selected.out, /^20 Sites in the namespace sno-fleet with wave=1\n\nWAITING +20 /);
});

t.test('the Jobs of a wave are accepted', async (t) => {
  const wave = ['--selector', 'wave=2', '--image', 'registry.example.com/sno:1'];
  const server = ['--hub-server', 'https://hub.example.com:6443', '--hub-ca', 'hub-ca'];
  const url = ['--publish-url', 'https://volumes.example.com'];
  const hub = ['--kubeconfig', kubeconfig];
  const { code, out, err } = await sno(['fleet', 'jobs', ...wave, ...url, ...server, ...hub]);
  t.equal(code, 0, err);
  const rows = await applied('jobs', out);
  t.same(failedRows(rows), [], failureTable(rows).slice(0, 3).join('\n'));
  t.same(outcomeTable(rows), [], 'and without a warning');
  const jobs: Resource = { apiVersion: 'batch/v1', plural: 'jobs', schema: objectSchema };
  const { items } = await admin.list(jobs, { namespace }, limits);
  t.match(
    items.map(({ metadata: { name }, spec }) => ({ name, spec })),
    [
      { name: 'sno-fleet-2', spec: { completions: 490, suspend: true, maxFailedIndexes: 50 } },
      {
        name: 'sno-fleet-2-canary',
        spec: { completions: 10, suspend: false, maxFailedIndexes: 0 },
      },
      { name: 'sno-fleet-2-canary-collect', spec: { completions: 10, suspend: true } },
      { name: 'sno-fleet-2-collect', spec: { completions: 490, suspend: true } },
    ],
  );
});

t.test('a page of it', async (t) => {
  const page = join(folder, 'fleet.html');
  const { code, err } = await sno(['fleet', 'report', '--html', page, '--kubeconfig', kubeconfig]);
  t.equal(code, 0, err);
  t.match(readFileSync(page, 'utf8'), /510 sites in sno-fleet/);
});

t.test('a hub without Sites says what to apply', async (t) => {
  await admin.remove(
    resources.customResourceDefinitions,
    { name: 'sites.fleet.sno-agents.io' },
    limits,
  );
  const status = () => sno(['fleet', 'status', '--kubeconfig', kubeconfig]);
  let last = await status();
  // The API server serves a deleted kind for some seconds more.
  for (let tries = 0; tries < 300 && last.code === 0; tries += 1) {
    await sleep(100);
    last = await status();
  }
  t.equal(last.code, 2);
  t.match(last.err, /the hub has no Sites.*Apply deploy\/fleet\/crd\.yaml/s);
});
