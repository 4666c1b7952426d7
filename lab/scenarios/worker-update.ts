import type { Component } from '../components/component.ts';
import { KUBERNETES_VERSIONS } from '../components/versions.ts';
import { scenarioOf } from '../installation.ts';
import { imagesOf, routedPayloadOf } from '../payload.ts';
import type { Scenario } from '../scenario.ts';
import { Updates, updatesOf } from '../updates.ts';
import { WorkerUpdates } from '../worker-update.ts';
import { Workers } from '../workers.ts';

const before = { kubernetes: '1.36', etcd: '3.6' } as const;
const after = { kubernetes: '1.37', etcd: '3.6' } as const;
const kubeletOf = ({ kubernetes }: typeof before | typeof after) =>
  `v${KUBERNETES_VERSIONS[kubernetes]}`;

const payloads = { next: routedPayloadOf(after) };

/** Of this scenario only. */
export const workerUpdateComponents: readonly Component[] = [
  routedPayloadOf(before),
  ...Object.values(payloads),
];

/** A host and then its worker go to the next minor version. Before, the worker loses its power twice, and goes back. */
export const workerUpdate: Scenario = (context) => {
  const run = new Workers(context, { dayOne: false, payload: routedPayloadOf(before) });
  const updates = new Updates(run, context, payloads);
  const worker = new WorkerUpdates(run, context, updates);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Create the Ignition config of workers', run: () => run.createWorkers() },
    { title: 'Boot a worker, kill its agent', run: (report) => run.bootWorker(report) },
    { title: 'Allow it by the fingerprint of its key', run: (report) => run.join(report) },
    { title: 'Check the worker', run: (report) => run.checkWorker(report) },
    ...updatesOf(updates, 'next'),
    { title: 'The worker trusts it, too', run: worker.trustKey },
    { title: 'It does not go before its host', run: () => worker.refusedBeforeItsHost('next') },
    { title: 'Its host: Kubernetes 1.37', run: () => updates.settles('next', imagesOf(after)) },
    {
      title: 'The worker, power cut twice, goes back',
      run: () => worker.comesBack('next', kubeletOf(before)),
    },
    { title: 'The worker: Kubernetes 1.37', run: () => worker.settles('next', kubeletOf(after)) },
  ]);
};
