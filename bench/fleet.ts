import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pMap from 'p-map';
import { KUBERNETES_VERSION } from '../lab/components/versions.ts';
import { repository } from '../lab/paths.ts';
import { startControlPlane } from '../lab/servers/control-plane.ts';
import { applyManifests } from '../lib/clients/kube/apply.ts';
import type { KubeClient } from '../lib/clients/kube/client.ts';
import { decodeManifests } from '../lib/clients/kube/manifest-decoding.ts';
import type { NodeReport } from '../lib/engine/report/node-report.ts';
import { API_VERSION, FIELD_MANAGERS, FLEET } from '../lib/engine/report/site-status.ts';
import { siteStatusOf } from '../lib/engine/report/site-status-of.ts';
import type { Benchmark } from './benchmark.ts';
import { bundledProgram } from './bundled-program.ts';
import { expectGo } from './go.ts';
import { expectGnuTime, measureProcess } from './measured-process.ts';
import { compare } from './statistics.ts';

const FEW = 1000;
const MANY = 10_000;
/** A wave: so many nodes report at the same time. */
const AT_ONCE = 100;
const NAMESPACE = 'sno-fleet';
const REQUEST_MS = 60_000;
const STATUS_MS = 5 * 60_000;
const KIB = 1024;

interface Costs {
  readonly createMs: number;
  readonly reportMs: number;
  readonly etcdKiB: number;
  readonly statusSeconds: number;
  readonly statusMiB: number;
}

/** What a hub costs per site with many sites, beside few: above 1, it grows faster than they do. */
export const fleet: Benchmark = {
  name: 'fleet',
  compares: `a hub with ${MANY} sites compared with one of ${FEW}: what each site costs the API server and etcd, and "sno fleet status"`,
  deadlineMs: 60 * 60_000,
  async run(signal, { folder, report }) {
    await expectGo();
    await expectGnuTime();
    const sno = await bundledProgram(join(repository, 'cli/main.ts'), folder);
    const measured = async (count: number) => {
      report(`${count} sites`);
      return withHub(join(folder, `hub-${count}`), sno, count, signal);
    };
    const few = await measured(FEW);
    const many = await measured(MANY);
    const row = (what: string, unit: string, of: (costs: Costs) => number) =>
      compare({ what, unit }, [of(many)], [of(few)]);
    const per = (seconds: number, count: number) => (seconds * 1000) / count;
    return {
      rows: [
        row('creating a Site', 'ms', ({ createMs }) => createMs),
        row('a report of a node', 'ms', ({ reportMs }) => reportMs),
        row('etcd, with the history of these writes, per site', 'KiB', ({ etcdKiB }) => etcdKiB),
        compare(
          { what: 'sno fleet status, wall time per site', unit: 'ms' },
          [per(many.statusSeconds, MANY)],
          [per(few.statusSeconds, FEW)],
        ),
        row('sno fleet status, memory', 'MiB', ({ statusMiB }) => statusMiB),
      ],
      versions: { kubernetes: KUBERNETES_VERSION },
    };
  },
};

async function withHub(
  folder: string,
  sno: string,
  count: number,
  signal: AbortSignal,
): Promise<Costs> {
  const lifetimeMs = 30 * 60_000;
  const hub = await startControlPlane(folder, signal, { lifetimeMs });
  try {
    const user = { name: 'hub-admin', groups: ['system:masters'] };
    using client = await hub.client(user);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await hub.kubeconfig(user), { mode: 0o600 });
    await deploy(client, signal);
    const names = Array.from({ length: count }, (_, at) => `site-${String(at).padStart(5, '0')}`);
    const each = async (write: (name: string, at: number) => Promise<unknown>) => {
      const began = performance.now();
      await pMap(names, write, { concurrency: AT_ONCE, signal });
      return (performance.now() - began) / count;
    };
    const createMs = await each((name) => create(client, name, signal));
    const reportMs = await each((name) => tell(client, name, signal));
    const file = join(folder, 'etcd/member/snap/db');
    const etcdKiB = (await stat(file)).size / KIB / count;
    const args = [sno, 'fleet', 'status', '--kubeconfig', kubeconfig, '--namespace', NAMESPACE];
    const limits = { signal, deadlineMs: STATUS_MS };
    const status = await measureProcess(process.execPath, args, folder, limits);
    const { wallSeconds: statusSeconds, peakMiB: statusMiB } = status;
    return { createMs, reportMs, etcdKiB, statusSeconds, statusMiB };
  } finally {
    await hub.stop();
  }
}

async function deploy(client: KubeClient, signal: AbortSignal): Promise<void> {
  const files = ['crd', 'node-access', 'flow-control', 'worker-access'];
  const texts = files.map((name) =>
    readFile(join(repository, `deploy/fleet/${name}.yaml`), 'utf8'),
  );
  const text = (await Promise.all(texts)).join('\n---\n');
  const { manifests } = decodeManifests('deploy', text);
  const options = { signal, deadlineMs: REQUEST_MS, concurrency: 1, report: () => undefined };
  await applyManifests(client, { manifests, faults: [] }, options);
}

const path = `/apis/${FLEET.group}/${FLEET.version}/namespaces/${NAMESPACE}/${FLEET.plural}`;
const named = (name: string) => ({
  apiVersion: API_VERSION,
  kind: 'Site',
  metadata: { name, namespace: NAMESPACE, labels: { wave: name.slice(5, 7) } },
});

function create(client: KubeClient, name: string, signal: AbortSignal): Promise<unknown> {
  const values = {
    number: name,
    address: '192.0.2.10',
    gateway: '192.0.2.1',
    machine: 'CZ1234ABCD',
  };
  const spec = { action: 'relocate', serial: 1, templateRef: { name: 'shop' }, values };
  const body = { ...named(name), spec: { ...spec, delivery: { by: 'url' } } };
  return client.json({ method: 'POST', path, body }, { signal, deadlineMs: REQUEST_MS });
}

/** As a node says that it has failed, with all that it says then. */
function tell(client: KubeClient, name: string, signal: AbortSignal): Promise<unknown> {
  const at = new Date().toISOString();
  const report: NodeReport = {
    ...{ schemaVersion: 1, sequence: 1, at, node: name, machine: [], version: '1.0.0' },
    changes: [
      { change: 'install', state: 'done', at },
      {
        ...{ change: 'relocate', state: 'takenBack', at, serial: 1, code: 'site-check' },
        what: 'the site does not answer as its configuration says',
        fix: 'Check the cable and the gateway of the site, and insert the volume again.',
      },
    ],
  };
  const body = { ...named(name), status: siteStatusOf(report, []) };
  const manager = `fieldManager=${FIELD_MANAGERS.node}&force=true`;
  const contentType = 'application/apply-patch+yaml';
  const call = {
    method: 'PATCH',
    path: `${path}/${name}/status?${manager}`,
    contentType,
    body,
  } as const;
  return client.json(call, { signal, deadlineMs: REQUEST_MS });
}
