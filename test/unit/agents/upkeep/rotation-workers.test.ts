import t, { type Test } from 'tap';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { workers } from '../../../../agents/upkeep/rotate/workers.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { requestRotation, type What } from '../../../../lib/change/rotation/request.ts';
import { trustDigest, WORKER_SELECTOR } from '../../../../lib/cluster/workers/api-trust.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { controllerManagerTrust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { servingPair, textAt } from '../../render/rendered-host.ts';
import { listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { apiOf } from './earlier-authority.ts';

const NODES = '/api/v1/nodes';
const next = await createAuthority('kube-apiserver-serving-ca');
const both = `${servingPair.certificate}${next.certificate}`;
const confirmed = trustDigest(both);
const before = trustDigest(servingPair.certificate);
const serving: What = { kind: 'authorities', names: ['etcd', 'serving'] };

const node = (name: string, digest?: string) => ({
  metadata: { name, annotations: digest === undefined ? {} : { 'sno-agents/api-trust': digest } },
});
const changed = (object: object) => ({ type: 'MODIFIED', object });

interface Given {
  readonly what?: What;
  readonly settings?: object;
  readonly nodes?: readonly object[];
  readonly events?: readonly object[];
}

async function rotating(
  t: Test,
  { what = serving, settings = {}, nodes = [], events = [] }: Given,
) {
  const host = testHost(t);
  const { url, requests, selectors } = await apiOf(t, servingPair, {
    [`GET ${NODES}`]: listOf(...nodes),
    [`WATCH ${NODES}`]: events,
  });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  host.write(
    '/etc/sno-agents/kubelet.env',
    'KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=edge-0\n',
  );
  host.write(authorityPaths('serving').certificate, servingPair.certificate);
  const admin = authorityPaths('admin');
  for (const path of [admin.certificate, admin.key]) host.write(path, textAt(path));
  host.write(controllerManagerTrust.api, both);
  await requestRotation(host.paths, { what, restartWorkloads: false });
  const context = await rotateContext(hostPaths(host.root, { api: url }));
  return {
    host,
    requests,
    selectors,
    run: (signal?: AbortSignal) => workers.run(context, host.progress(signal)),
  };
}

t.test('a rotation of the CA of the API server waits for all workers', async (t) => {
  const { host, selectors, run } = await rotating(t, {
    // The host itself has no label, as one of an earlier release.
    nodes: [node('edge-0'), node('worker-0', before), node('worker-1'), node('gone', before)],
    events: [
      changed(node('worker-0', confirmed)),
      changed(node('worker-1', before)),
      { type: 'DELETED', object: node('gone', before) },
      changed(node('worker-1', confirmed)),
      { type: 'ADDED', object: node('late') },
    ],
  });
  t.same(await run(), { kind: 'done', note: 'confirmed by worker-0, worker-1' });
  t.same([...selectors], [`${NODES} ${WORKER_SELECTOR}`]);
  const said = host.lines.join('');
  t.match(said, /Waiting for every worker to trust .* not confirmed by worker-0, worker-1, gone/);
  t.match(said, /not confirmed by worker-1[^,]/, 'a Node that was deleted does not count');
});

t.test('workers that have joined meanwhile count, too', async (t) => {
  const { host, run } = await rotating(t, {
    nodes: [node('worker-0', before)],
    events: [
      { type: 'ADDED', object: node('late') },
      changed(node('worker-0', confirmed)),
      changed(node('late', confirmed)),
    ],
  });
  t.same(await run(), { kind: 'done', note: 'confirmed by worker-0, late' });
  t.match(host.lines.join(''), /not confirmed by late/);
});

t.test('at the deadline the failure names the workers, and what can be done', async (t) => {
  const { run } = await rotating(t, {
    settings: { rotateWorkersMs: 1000 },
    nodes: [node('worker-0', confirmed), node('worker-1', before), node('worker-2')],
  });
  await t.rejects(run(), {
    kind: 'deadline',
    message:
      /every worker .*found not confirmed by worker-1, worker-2\. .*the old one is still in use.*systemctl start sno-rotate/,
  });
});

t.test('told to stop while it waits, it blames no worker', async (t) => {
  const { host, run } = await rotating(t, { nodes: [node('worker-0', before)] });
  const stop = new AbortController();
  const ended = thrownBy(run(stop.signal));
  await host.said(/not confirmed by worker-0/);
  const told = new Failure('retry', 'told to stop');
  stop.abort(told);
  t.equal(await ended, told);
});

t.test('without workers, or for another CA, it waits for nobody', async (t) => {
  const alone = await rotating(t, { nodes: [node('edge-0')] });
  t.same(await alone.run(), { kind: 'done', note: 'no workers' });
  const others: What[] = [{ kind: 'authorities', names: ['etcd'] }, { kind: 'encryption' }];
  for (const what of others) {
    const { requests, run } = await rotating(t, { what, nodes: [node('worker-0')] });
    t.same(await run(), { kind: 'done', note: 'not needed' });
    t.same(requests, []);
  }
});
