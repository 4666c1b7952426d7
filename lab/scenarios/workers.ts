import { scenarioOf } from '../installation.ts';
import type { Scenario, ScenarioStep } from '../scenario.ts';
import { Workers } from '../workers.ts';

/** An all-in-one host, and a worker that joins it when its list allows that. */
const workersWith =
  (
    options: { readonly dayOne: boolean },
    before: (run: Workers) => readonly ScenarioStep[],
    after: (run: Workers) => readonly ScenarioStep[],
  ): Scenario =>
  (context) => {
    const run = new Workers(context, options);
    return scenarioOf(run, [
      ...run.stepsToDisk(),
      { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
      { title: 'Set up the cluster', run: (report) => run.finish(report) },
      { title: 'Check the taints of its node', run: () => run.checkTaint() },
      ...before(run),
      { title: 'Boot a worker, kill its agent', run: (report) => run.bootWorker(report) },
      { title: 'Allow it by the fingerprint of its key', run: (report) => run.join(report) },
      { title: 'Check the worker', run: (report) => run.checkWorker(report) },
      ...after(run),
      { title: 'Keep the ingress pod in place', run: (report) => run.checkIngress(report) },
    ]);
  };

/** It joins the running cluster, and a host that is not allowed does not. */
export const workers = workersWith(
  { dayOne: false },
  (run) => [
    { title: 'No routes for a host alone', run: () => run.checkAlone() },
    { title: 'Create the Ignition config of workers', run: () => run.createWorkers() },
  ],
  (run) => [
    { title: 'Replace the CA of the API server', run: (report) => run.rotateCa(report) },
    { title: 'Boot a host that is not allowed', run: (report) => run.refuseStranger(report) },
  ],
);

/** It belongs to the installation: its Ignition config is created together with the host's. */
export const dayOneWorkers = workersWith(
  { dayOne: true },
  () => [],
  () => [],
);
