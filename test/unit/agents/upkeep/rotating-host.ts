import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Test } from 'tap';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { saveStaged } from '../../../../agents/steps/certificates/changes.ts';
import { rotateContext } from '../../../../agents/upkeep/rotate/context.ts';
import { requestRotation, type What } from '../../../../lib/change/rotation/request.ts';
import { ETCD_MANIFEST_FILE } from '../../../../lib/cluster/installation/snapshot-record.ts';
import { schedulerTrust } from '../../../../lib/render/kubernetes/kube-scheduler.ts';
import { READ_ONCE_ANNOTATION, readOnceOf } from '../../../../lib/render/kubernetes/read-once.ts';
import { rendered, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

export const NEW = 'new authorities\n';
export const OLD = textAt(schedulerTrust.api);

/** A host whose control plane runs, and a request for a rotation. */
export async function requested(
  t: Test,
  settings: object = {},
  what: What = { kind: 'encryption' },
) {
  const host = testHost(t);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  host.programs.give('systemctl', 'echo ActiveEnterTimestampMonotonic=-60000000');
  /** Whether that program is ready; which files the scheduler was run with. */
  const kubelet = { isReady: true, program: 'kube-scheduler', seen: new Set<string>() };
  await staticPods(t, host, (component) => kubelet.isReady || component !== kubelet.program);
  await fakeRuntime(
    t,
    host,
    () => rendered.staticPods.map(({ component }) => ({ name: component, sandbox: component })),
    {
      ListPodSandbox: () => {
        kubelet.seen.add(host.read(schedulerTrust.api));
        return { items: rendered.staticPods.map(({ component }) => sandboxOf(host, component)) };
      },
    },
  );
  await requestRotation(host.paths, { what, restartWorkloads: false });
  return { host, context: await rotateContext(host.paths), kubelet };
}

/** The same with what is staged: its phases all have one change, of a file that the scheduler reads once. */
export async function rotating(t: Test, settings: object = {}) {
  const { host, context, kubelet } = await requested(t, settings);
  const changes = [{ path: schedulerTrust.api, contents: NEW, mode: 0o644 }];
  const phases = { 'trust-both': changes, 'use-new': changes, 'trust-new': changes };
  await saveStaged(host.paths, { schemaVersion: 1, id: context.request.id, phases, retired: [] });
  return { host, context, kubelet };
}

/** As on a host that a live host wrote: etcd's file has another name than the rendered one. */
export const manifestOf = (component: string) =>
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
