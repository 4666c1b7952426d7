/** A phase whose files do not work: what is restored, what is said, and that it can be killed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { type Phase, saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { applyPhase } from '../../../../agents/upkeep/rotate/apply.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { restartedFor } from '../../../../agents/upkeep/rotate/restarts.ts';
import { rotationFolder, writeRequest } from '../../../../lib/change/rotation/request.ts';
import { ETCD_MANIFEST_FILE } from '../../../../lib/cluster/installation/snapshot-record.ts';
import { namesIn } from '../../../../lib/host/files.ts';
import { trust } from '../../../../lib/render/kubernetes/kube-scheduler.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../../lib/render/kubernetes/read-once.ts';
import { surgeRedirect } from '../../../../lib/render/kubernetes/surge-redirect.ts';
import { rendered, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

const NEW = 'new authorities\n';
const OLD = textAt(trust.api);

/** A host whose phases all have one change, of a file that the scheduler reads once. */
async function rotating(t: Test, settings: object = {}) {
  const host = testHost(t);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  host.programs.give('systemctl', 'echo ActiveEnterTimestampMonotonic=-60000000');
  /** Whether the scheduler is ready; which files the pod was run with. */
  const kubelet = { isReady: true, seen: new Set<string>() };
  await staticPods(t, host, (component) => kubelet.isReady || component !== 'kube-scheduler');
  await fakeRuntime(
    t,
    host,
    () => rendered.staticPods.map(({ component }) => ({ name: component, sandbox: component })),
    {
      ListPodSandbox: () => {
        kubelet.seen.add(host.read(trust.api));
        return { items: rendered.staticPods.map(({ component }) => sandboxOf(host, component)) };
      },
    },
  );
  await writeRequest(host.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  const context = await rotateContext(host.paths);
  const changes = [{ path: trust.api, contents: NEW, mode: 0o644 }];
  const phases = { 'trust-both': changes, 'use-new': changes, 'trust-new': changes };
  await saveStaged(host.paths, { schemaVersion: 1, id: context.request.id, phases, retired: [] });
  return { host, context, kubelet };
}

/** As on a host that a live host wrote: etcd's file has another name than the rendered one. */
const manifestOf = (component: string) =>
  `/etc/kubernetes/manifests/${component === 'etcd' ? ETCD_MANIFEST_FILE : `${component}.yaml`}`;

/** Places the rendered manifests, whose programs are all one server. */
async function staticPods(t: Test, host: TestHost, isReady: (component: string) => boolean) {
  const server = createServer((request, response) => {
    response.writeHead(isReady(request.url?.slice(1) ?? '') ? 200 : 500).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address());
  for (const { component, manifest } of rendered.staticPods) {
    const pod = parseDocument(manifest);
    const probe = { host: '127.0.0.1', port, path: `/${component}`, scheme: 'HTTP' };
    pod.setIn(['spec', 'containers', 0, 'readinessProbe', 'httpGet'], probe);
    host.write(manifestOf(component), pod.toString(), 0o600);
  }
}

/** The kubelet runs each pod as its manifest says. */
const sandboxOf = (host: TestHost, component: string) => ({
  id: component,
  metadata: { name: component, namespace: 'kube-system' },
  state: 'SANDBOX_READY',
  annotations: { [READ_ONCE_ANNOTATION]: readOnceOf(host.read(manifestOf(component))) },
});

const fails = async () => {
  throw new Error('nobody accepts it');
};
const works = async () => {};

t.test('the old files are restored, and the reason is logged and thrown', async (t) => {
  const left: [phase: Phase, files: string[]][] = [
    ['trust-both', []],
    ['use-new', ['request.json', 'restarted.json', 'staged.json']],
  ];
  for (const [phase, files] of left) {
    const { host, context, kubelet } = await rotating(t);
    await t.rejects(applyPhase(context, phase, fails, host.progress()), {
      kind: 'fatal',
      code: 'rotation-rolled-back',
      cause: { message: 'nobody accepts it' },
    });
    t.equal(host.read(trust.api), OLD);
    const { id } = context.request;
    const restarted = phase === 'use-new' ? ['kube-scheduler'] : [];
    t.same(await restartedFor(host.paths, id, phase), restarted, 'what was restarted is known');
    t.same(await restartedFor(host.paths, id, 'trust-new'), [], 'not in another phase');
    t.same([...kubelet.seen], [NEW, OLD], 'the pod was started with both');
    t.match(host.lines.join(''), new RegExp(`files of ${phase} did not work: nobody accepts it`));
    t.same(await namesIn(rotationFolder(host.paths)), files, phase);
  }
});

t.test('killed while it restores: the next start restores, and knows the reason', async (t) => {
  const { host, context, kubelet } = await rotating(t);
  const stop = new AbortController();
  const verify = async () => {
    kubelet.isReady = false;
    throw new Error('nobody accepts it');
  };
  const ended = applyPhase(context, 'use-new', verify, host.progress(stop.signal));
  ended.catch(() => undefined);
  await host.said(/Waiting for kube-scheduler to be ready: .kube-scheduler returned 500/);
  stop.abort(new Error('power cut'));
  await t.rejects(ended, { message: 'power cut' });
  // As if it had been killed before the old files were written.
  host.write(trust.api, NEW);
  kubelet.isReady = true;
  kubelet.seen.clear();
  await t.rejects(applyPhase(context, 'use-new', works, host.progress()), {
    code: 'rotation-rolled-back',
    cause: { message: 'nobody accepts it' },
  });
  t.same([...kubelet.seen], [OLD], 'the new files were not tried again');
  await applyPhase(context, 'use-new', works, host.progress());
  t.equal(host.read(trust.api), NEW, 'that is for the next start');
});

t.test('if the old files do not work either, both reasons are thrown', async (t) => {
  const { host, context, kubelet } = await rotating(t, { rotatePodMs: 1 });
  const verify = async () => {
    kubelet.isReady = false;
    throw new Error('nobody accepts it');
  };
  await t.rejects(applyPhase(context, 'use-new', verify, host.progress()), {
    kind: 'deadline',
    message:
      /use-new did not work, and the old ones do not.*kube-scheduler is not ready.*returned 500/,
    cause: { message: 'nobody accepts it' },
  });
  kubelet.isReady = true;
  await t.rejects(applyPhase(context, 'use-new', works, host.progress()), {
    code: 'rotation-rolled-back',
    cause: { message: 'nobody accepts it' },
  });
});

t.test('nft gets its rules in one line, and reads no file of the agent', async (t) => {
  const { host, context } = await rotating(t);
  host.programs.give('systemd-run', 'true');
  const rules = surgeRedirect({ serviceNetwork: ['172.30.0.0/16'] });
  await context.runNft(rules, AbortSignal.timeout(10_000));
  const [call = ''] = host.programs.calls();
  t.match(
    call,
    / -- nft table inet sno-surge; delete table inet sno-surge; .* redirect to :6444; \}; \}$/,
  );
});
