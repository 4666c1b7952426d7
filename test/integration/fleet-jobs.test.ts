/** The Jobs of a wave under the real Job controller: what it starts, and when it stops. The kubelet is this test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { kubernetesBinary } from '../../lab/servers/binaries.ts';
import { startDaemon } from '../../lab/servers/daemon.ts';
import { freePort } from '../../lab/servers/free-port.ts';
import { waitUntil } from '../../lib/base/wait/wait-until.ts';
import { failedRows } from '../../lib/clients/kube/apply-table.ts';
import {
  objectSchema,
  type Resource,
  resourcePath,
  resources,
} from '../../lib/clients/kube/resources.ts';
import { sno } from '../unit/cli/run-sno.ts';
import { namespace, root, startHub } from './fleet-hub.ts';

const { folder, admin, kubeconfig, applied, limits } = await startHub(t);
const controllers = await kubernetesBinary('kube-controller-manager', limits.signal);
const daemon = startDaemon(
  controllers,
  [
    ...['--kubeconfig', kubeconfig, '--leader-elect=false', '--controllers=job-controller'],
    ...['--bind-address=127.0.0.1', `--secure-port=${await freePort()}`],
  ],
  join(folder, 'kube-controller-manager.log'),
  180_000,
);
t.teardown(() => daemon.stop());

const jobs: Resource = { apiVersion: 'batch/v1', plural: 'jobs', schema: objectSchema };
const { pods } = resources;

const files = ['crd', 'worker-access'].map((name) =>
  readFileSync(join(root, `deploy/fleet/${name}.yaml`), 'utf8'),
);
const INDEX = 'batch.kubernetes.io/job-completion-index';
const JOB = 'batch.kubernetes.io/job-name';

/** The pods of a Job that have not ended, by index. */
async function podsOf(job: string) {
  const selection = { namespace, labelSelector: `${JOB}=${job}` };
  const { items } = await admin.list(pods, selection, limits);
  return items
    .filter(({ status }) => status?.phase === 'Pending')
    .map(({ metadata }) => ({ name: metadata.name, index: metadata.annotations?.[INDEX] ?? '' }))
    .toSorted((a, b) => (a.index < b.index ? -1 : 1));
}

/** As a kubelet does. */
async function ends(name: string, exitCode: number): Promise<void> {
  const path = resourcePath(pods, { namespace, name, subresource: 'status' });
  const terminated = { exitCode, finishedAt: '2030-01-02T03:04:05Z' };
  const status = {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      {
        name: 'sno',
        image: 'x',
        imageID: 'x',
        ready: false,
        restartCount: 0,
        state: { terminated },
      },
    ],
  };
  const contentType = 'application/merge-patch+json';
  await admin.json({ method: 'PATCH', path, body: { status }, contentType }, limits);
}

const eventually = <T>(what: string, probe: () => Promise<T | undefined>) =>
  waitUntil(
    async () => {
      const met = await probe();
      return met === undefined ? { state: 'not yet' } : { met };
    },
    {
      ...{ signal: limits.signal, deadlineMs: 30_000, everyMs: 100 },
      late: () => new Error(`waited for ${what}`),
    },
  );

const started = (job: string, count: number) =>
  eventually(`${count} pods of ${job}`, async () => {
    const found = await podsOf(job);
    return found.length === count ? found : undefined;
  });

const start = (job: string) => {
  const path = resourcePath(jobs, { namespace, name: job });
  const contentType = 'application/merge-patch+json';
  const body = { spec: { suspend: false } };
  return admin.json({ method: 'PATCH', path, body, contentType }, limits);
};

const conditionOf = (job: string, type: string) =>
  eventually(`${job} ${type}`, async () => {
    const { status } = await admin.get(jobs, { namespace, name: job }, limits);
    const text = JSON.stringify(status);
    return text.includes(`"type":"${type}","status":"True"`) ||
      text.includes(`"status":"True","type":"${type}"`)
      ? text
      : undefined;
  });

/** What `sno fleet jobs` prints. */
async function applyJobs(t: Test, name: string, wave: readonly string[]): Promise<void> {
  const options = ['--image', 'registry.example.com/sno:1'];
  const urls = [
    '--publish-url',
    'https://v.example.com',
    '--hub-server',
    'https://hub.example.com',
  ];
  const printed = await sno(['fleet', 'jobs', ...wave, ...options, ...urls]);
  t.same(failedRows(await applied(name, printed.out)), [], printed.err);
}

t.test('a hub with the Jobs of a wave', async (t) => {
  t.same(failedRows(await applied('deploy', files.join('\n---\n'))), []);
  await applyJobs(t, 'jobs', ['--selector', 'wave=1', '--count', '3', '--canaries', '2']);
});

t.test('only the canaries start, in pods that the namespace admits', async (t) => {
  const canaries = await started('sno-fleet-1-canary', 2);
  t.same(
    canaries.map(({ index }) => index),
    ['0', '1'],
  );
  const pod = await admin.get(pods, { namespace, name: canaries[0]?.name ?? '' }, limits);
  t.match(JSON.stringify(pod), '"name":"JOB_COMPLETION_INDEX"');
  for (const job of ['sno-fleet-1', 'sno-fleet-1-collect', 'sno-fleet-1-canary-collect']) {
    t.same(await podsOf(job), [], `${job} waits`);
  }
  for (const { name } of canaries) await ends(name, 0);
  t.match(await conditionOf('sno-fleet-1-canary', 'Complete'), '"completedIndexes":"0,1"');
});

t.test('a canary whose site has failed stops the others, without another pod', async (t) => {
  await start('sno-fleet-1-canary-collect');
  const [, second] = await started('sno-fleet-1-canary-collect', 2);
  await ends(second?.name ?? '', 4);
  const status = await conditionOf('sno-fleet-1-canary-collect', 'FailureTarget');
  t.match(status, 'MaxFailedIndexesExceeded');
  t.match(status, '"failedIndexes":"1"');
});

t.test('a wave goes on without the sites that have failed', async (t) => {
  await start('sno-fleet-1');
  const [first, second, third] = await started('sno-fleet-1', 3);
  await ends(first?.name ?? '', 2);
  await ends(second?.name ?? '', 0);
  await ends(third?.name ?? '', 0);
  const status = await conditionOf('sno-fleet-1', 'Failed');
  t.match(status, '"failedIndexes":"0"');
  t.match(status, '"completedIndexes":"1,2"');
});

t.test('a wave of 500 stops at its 51st failure: most sites never hear of it', async (t) => {
  const wave = ['--selector', 'wave=2', '--count', '500', '--canaries', '0', '--max-failed', '50'];
  await applyJobs(t, 'wave-2', [...wave, '--parallelism', '100']);
  const first = await started('sno-fleet-2', 100);
  t.equal(first.length, 100, 'no more at a time');
  for (const { name } of first.slice(0, 51)) await ends(name, 2);
  const status = await conditionOf('sno-fleet-2', 'FailureTarget');
  t.match(status, 'MaxFailedIndexesExceeded');
  const { items } = await admin.list(
    pods,
    { namespace, labelSelector: `${JOB}=sno-fleet-2` },
    limits,
  );
  t.ok(items.length <= 151, `${items.length} pods were made`);
  t.same(await podsOf('sno-fleet-2-collect'), [], 'it is collected when somebody says so');
});
