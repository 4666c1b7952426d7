/** A rotation of the CA of the API server, and a worker that follows it, against the rendered control plane. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { planRotation } from '../../agents/upkeep/rotate/accept.ts';
import { trustContext } from '../../agents/worker/trust/context.ts';
import { workerTrustPlan } from '../../agents/worker/trust/plan.ts';
import type { What } from '../../lib/change/rotation/request.ts';
import { kubeClient } from '../../lib/clients/kube/client.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { API_TRUST_ANNOTATION, trustDigest } from '../../lib/cluster/workers/api-trust.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import { certificatesIn } from '../../lib/pki/certificate.ts';
import { kubeconfig } from '../../lib/pki/kubeconfig.ts';
import { authorityPaths, laptopAdminCa } from '../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths, kubeletTrust } from '../../lib/render/kubernetes/kubelet.ts';
import { cluster } from '../unit/agents/host/cluster.ts';
import { textAt } from '../unit/render/rendered-host.ts';
import { rotatingHost } from './control-plane/rotating-host.ts';
import { eventually, leafOf, OTHER_NODE } from './control-plane/world.ts';

const root = await mkdtemp(join(tmpdir(), 'rotation-workers-'));
t.teardown(() => rm(root, { recursive: true, force: true }));
const it = await rotatingHost(t, root);
const { world, paths } = it;
const SERVING: What = { kind: 'authorities', names: ['serving'] };

async function write(path: string, contents: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, contents, { mode: 0o600 });
}
const environment = (name: string) => `KUBELET_NODE_IPS=192.0.2.10\nKUBELET_NODE_NAME=${name}\n`;

// What accepting a rotation reads of the host.
await write(paths.record, '{}');
await write(paths.at('/etc/sno-agents/cluster.json'), JSON.stringify(cluster));
await write(paths.at('/etc/sno-agents/kubelet.env'), environment('edge-0'));

// The worker, which has joined by the CA of the rendered control plane.
const worker = hostPaths(join(root, 'worker'));
const CA = worker.at(kubeletTrust.api);
const KUBECONFIG = worker.at(kubeletPaths.kubeconfig);
const PAIR = worker.at(kubeletPaths.clientPair);
await write(CA, textAt(authorityPaths('serving').certificate));
const identity = await leafOf('kubelet-client', `system:node:${OTHER_NODE}`, {
  organizations: ['system:nodes'],
});
await write(PAIR, `${identity.certificate}${identity.key}`);
await write(worker.at('/etc/sno-agents/cluster.json'), JSON.stringify(cluster));
await write(worker.at('/etc/sno-agents/kubelet.env'), environment(OTHER_NODE));
await write(
  KUBECONFIG,
  kubeconfig({
    server: `https://127.0.0.1:${world.plane.port(6443)}`,
    cluster: 'local',
    user: 'kubelet',
    credentials: { kind: 'files', authority: CA, certificate: PAIR, key: PAIR },
  }),
);
const registered = await world.api({
  ...identity,
  method: 'POST',
  path: '/api/v1/nodes',
  body: { metadata: { name: OTHER_NODE } },
});
t.equal(registered.code, 201);

/** The health endpoint of a kubelet that this test does not have. */
const { fetch } = globalThis;
t.capture(globalThis, 'fetch', async (...args: Parameters<typeof fetch>) =>
  String(args[0]).includes(':10248/') ? new Response('ok') : fetch(...args),
);

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });
const trusted = () => readFile(CA, 'utf8');

async function runAgent(): Promise<void> {
  const context = await trustContext(worker);
  for (const step of workerTrustPlan(defaultSettings).steps) {
    await step.run(context, it.progress());
  }
}

/** What its Node says, read as the worker itself: fails if it cannot verify the API server. */
async function confirmed(): Promise<string | undefined> {
  using client = await kubeClient(KUBECONFIG);
  const found = await client.get(resources.nodes, { name: OTHER_NODE }, limits());
  return found.metadata.annotations?.[API_TRUST_ANNOTATION];
}

/** As the timer does, until the controller-manager has published so many CAs. */
const follows = (count: number) =>
  eventually(`the worker to trust ${count} CAs`, async () => {
    await runAgent();
    return certificatesIn(await trusted()).length === count || undefined;
  });

t.test('a worker follows a rotation of the CA of the API server', async (t) => {
  const request = { what: SERVING, restartWorkloads: false };
  await t.rejects(planRotation(paths, request, AbortSignal.timeout(60_000)), {
    kind: 'usage',
    message: /have not confirmed that they follow the CA of the API server: worker-0\./,
  });
  await eventually('the first confirmation', async () => {
    await runAgent().catch((error: unknown) => t.comment(String(error)));
    return (await confirmed()) === trustDigest(await trusted()) || undefined;
  });
  await t.resolves(planRotation(paths, request, AbortSignal.timeout(60_000)));

  const old = await trusted();
  let following: Promise<unknown> | undefined;
  const seen: string[] = [];
  await it.rotate(SERVING, async ({ name }) => {
    // Not awaited: the next step waits for it.
    if (name === 'trust-both') following = follows(2);
    if (name === 'workers') {
      await following;
      t.equal(await confirmed(), trustDigest(await trusted()));
    }
    // The new one is in use, and in the end the old one is trusted by nobody: with both, the worker goes on.
    seen.push(name);
    if (name === 'use-new' || name === 'conclude') {
      t.equal(certificatesIn(await trusted()).length, 2);
      t.equal(await confirmed(), trustDigest(await trusted()), `after ${name}`);
    }
  });
  t.same(seen, ['stage', 'trust-both', 'workers', 'use-new', 'overlap', 'trust-new', 'conclude']);
  await follows(1);
  const next = await readFile(paths.at(authorityPaths('serving').certificate), 'utf8');
  t.equal(await trusted(), next);
  t.not(next, old);
  t.equal(await confirmed(), trustDigest(next));
  // The laptop has exchanged its kubeconfig in between.
  await rm(paths.at(laptopAdminCa), { force: true });
  await t.resolves(planRotation(paths, request, AbortSignal.timeout(60_000)), 'the next one');
});
