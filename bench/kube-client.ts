import { join } from 'node:path';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { KUBERNETES_VERSION } from '../lab/components/versions.ts';
import { startControlPlane } from '../lab/servers/control-plane.ts';
import { resources } from '../lib/clients/kube/resources.ts';
import type { Benchmark } from './benchmark.ts';
import { expectGo } from './go.ts';
import { compare, interleaved } from './statistics.ts';

const REQUESTS = 1000;
const REPETITIONS = 3;
const place = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/** The agents' client of the API server compared with the common one, one request after another. */
export const kubeClientBench: Benchmark = {
  name: 'kube-client',
  compares: `${REQUESTS} GET requests one after another, by the client of the agents compared with @kubernetes/client-node`,
  deadlineMs: 30 * 60_000,
  async run(signal, { folder, report }) {
    await expectGo();
    const lifetimeMs = 20 * 60_000;
    const controlPlane = await startControlPlane(join(folder, 'servers'), signal, { lifetimeMs });
    try {
      const user = { name: 'test-admin', groups: ['system:masters'] };
      using client = await controlPlane.client(user);
      const config = new KubeConfig();
      config.loadFromString(await controlPlane.kubeconfig(user));
      const api = config.makeApiClient(CoreV1Api);
      const limits = { signal, deadlineMs: 30_000 };
      const ours = () => client.get(resources.configMaps, place, limits);
      const theirs = () => api.readNamespacedConfigMap(place);
      report(`${REPETITIONS} times ${REQUESTS} requests of each`);
      const pairs = await interleaved(
        REPETITIONS,
        () => secondsFor(ours, signal),
        () => secondsFor(theirs, signal),
      );
      const row = compare(
        { what: `${REQUESTS} requests`, unit: 's' },
        pairs.map((pair) => pair.ours),
        pairs.map((pair) => pair.theirs),
      );
      return { rows: [row], versions: { kubernetes: KUBERNETES_VERSION } };
    } finally {
      await controlPlane.stop();
    }
  },
};

async function secondsFor(request: () => Promise<unknown>, signal: AbortSignal): Promise<number> {
  const began = performance.now();
  for (let count = 0; count < REQUESTS; count += 1) {
    signal.throwIfAborted();
    await request();
  }
  return (performance.now() - began) / 1000;
}
