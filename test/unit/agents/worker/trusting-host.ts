import { createServer } from 'node:https';
import type { Test } from 'tap';
import { z } from 'zod';
import type { TrustContext } from '../../../../agents/worker/trust/context.ts';
import { workerTrustPlan } from '../../../../agents/worker/trust/plan.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { createSuccessor, type KeyPair } from '../../../../lib/pki/authority.ts';
import { kubeconfig } from '../../../../lib/pki/kubeconfig.ts';
import { kubeletPaths, kubeletTrust } from '../../../../lib/render/kubernetes/kubelet.ts';
import { FakeApi } from '../../clients/kube/fake-api.ts';
import { listening } from '../../clients/kube/listening.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { endPauses } from '../host/timers.ts';

const NODE = '/api/v1/nodes/worker-0';
const ROOT_CA = '/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt';
/** What the running kubelet read when it started. */
const READ = '/run/read-by-kubelet.crt';
export const CA = kubeletTrust.api;

export const old = await createAuthority('kube-apiserver-serving-ca');
export const next = await createSuccessor(old, new Date());
export const other = await createAuthority('kube-apiserver-serving-ca');
export const both = `${old.certificate}${next.certificate}`;
const client = await issueLeaf(await createAuthority('kubelet-client-ca'), {
  subject: { commonName: 'system:node:worker-0', organizations: ['system:nodes'] },
  usage: 'client',
});

const patchSchema = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()) }),
});

const serverOf = async (authority: KeyPair) => {
  const profile = { subject: { commonName: 'kube-apiserver' }, usage: 'server' } as const;
  const leaf = await issueLeaf(authority, { ...profile, ipAddresses: ['127.0.0.1'] });
  const chain = authority === next ? next.certificate + next.cross : '';
  return { cert: `${leaf.certificate}${chain}`, key: leaf.key };
};
const servers = { old: await serverOf(old), next: await serverOf(next) };

export interface TrustingHost {
  readonly host: TestHost;
  readonly api: FakeApi;
  publish(pem: string): void;
  /** Which CA the API server has its certificate from. */
  present(which: keyof typeof servers): void;
  /** One run of the agent: every step of its plan. Returns what the steps noted. */
  run(): Promise<(string | undefined)[]>;
  /** The annotation of its Node. */
  confirmed(): unknown;
  /** What the running kubelet trusts. */
  readByKubelet(): string;
  restarts(): number;
  /** The host restarts, and the kubelet with it. */
  boot(): void;
}

/** A worker that has joined, its kubelet, and the API server. */
export async function trustingHost(t: Test): Promise<TrustingHost> {
  const api = new FakeApi();
  const server = createServer(servers.old, (message, response) => api.answer(message, response));
  const port = await listening(t, server);
  const host = testHost(t, { hostname: 'worker-0' });
  host.write(CA, old.certificate);
  host.write(READ, old.certificate);
  host.write(kubeletPaths.clientPair, `${client.certificate}${client.key}`, 0o600);
  const pair = host.at(kubeletPaths.clientPair);
  const credentials = { authority: host.at(CA), certificate: pair, key: pair };
  host.write(
    kubeletPaths.kubeconfig,
    kubeconfig({
      server: `https://127.0.0.1:${port}`,
      cluster: 'local',
      user: 'kubelet',
      credentials: { kind: 'files', ...credentials },
    }),
    0o600,
  );
  host.programs.give(
    'systemctl',
    `[ "$*" = "restart kubelet.service" ] || exit 97\ncp "$ROOT${CA}" "$ROOT${READ}"`,
  );
  t.capture(globalThis, 'fetch', async () => new Response('ok'));
  endPauses(t, 5000);
  api.set(NODE, { metadata: { name: 'worker-0' } });
  api.rule(({ method, path, body }) => {
    const patch = patchSchema.safeParse(body).data;
    if (method !== 'PATCH' || path !== NODE || patch === undefined) return undefined;
    api.set(NODE, { metadata: { name: 'worker-0', ...patch.metadata } });
    return { code: 200, body: api.get(NODE) };
  });
  let runs = 0;
  return {
    host,
    api,
    publish: (pem) =>
      api.set(ROOT_CA, { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': pem } }),
    present: (which) => server.setSecureContext(servers[which]),
    async run() {
      runs += 1;
      const context: TrustContext = { ...host.context, run: `${runs}` };
      const notes: (string | undefined)[] = [];
      for (const step of workerTrustPlan(host.context.settings).steps) {
        const outcome = await step.run(context, host.progress());
        if (outcome.kind !== 'done') throw new Error(`${step.name}: ${JSON.stringify(outcome)}`);
        if (!(await step.holds(context, host.progress()))) throw new Error(`${step.name} failed`);
        notes.push(outcome.note);
      }
      return notes;
    },
    confirmed: () => {
      const annotations = z.record(z.string(), z.string()).optional();
      return annotations.parse(api.get(NODE)?.metadata.annotations)?.['sno-agents/api-trust'];
    },
    readByKubelet: () => host.read(READ),
    boot: () => host.write(READ, host.read(CA)),
    restarts: () => host.programs.calls('systemctl restart').length,
  };
}
