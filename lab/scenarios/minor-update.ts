import { AllInOne } from '../all-in-one.ts';
import { applyObject } from '../checks/apply-object.ts';
import { kubectl } from '../checks/kubectl.ts';
import { expectSame, expectWorkload, workload } from '../checks/renamed.ts';
import type { Component } from '../components/component.ts';
import { eventually } from '../eventually.ts';
import { brokenPayloadOf, imagesOf, payloadOf } from '../payload.ts';
import type { LabContext, Scenario, ScenarioStep } from '../scenario.ts';
import { Updates, updatesOf } from '../updates.ts';
import { allInOne } from './aio.ts';

const READY_MS = 3 * 60_000;

const first = { kubernetes: '1.35', etcd: '3.6' } as const;
const second = { kubernetes: '1.36', etcd: '3.6' } as const;
const third = { kubernetes: '1.37', etcd: '3.6' } as const;
const last = { kubernetes: '1.37', etcd: '3.7' } as const;

const payloads = {
  second: payloadOf(second),
  third: payloadOf(third),
  last: payloadOf(last),
  'broken-third': brokenPayloadOf(third),
  'broken-last': brokenPayloadOf(last),
};

/** Of this scenario only. */
export const minorUpdateComponents: readonly Component[] = [
  payloadOf(first),
  ...Object.values(payloads),
];

/** Written while an update is on trial. */
const written = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'written-on-trial', namespace: 'default' },
  data: { sold: '2' },
};

/**
 * A host with a workload goes from one minor version of Kubernetes to the next, and then to the next of etcd. An update of
 * each kind does not settle, on a host that loses its power twice, and is taken back.
 */
export const minorUpdate: Scenario = allInOne(
  (run, context) => {
    const updates = new Updates(run, context, payloads);
    const goesOn = { title: 'The workload goes on', run: () => workloadGoesOn(run, context) };
    return [
      { title: 'Start a workload', run: () => workload.run(run.cluster, context.signal) },
      ...updatesOf(updates, 'second'),
      {
        title: 'Two minor versions at once are refused',
        run: () => updates.refused('third', /1\.36/),
      },
      { title: 'Kubernetes 1.36', run: () => updates.settles('second', imagesOf(second)) },
      goesOn,
      ...takenBack(updates, 'broken-third', second, () => write(run, context)),
      goesOn,
      {
        title: 'What was written on trial is there',
        run: () => requireWritten(run, context),
      },
      { title: 'Kubernetes 1.37', run: () => updates.settles('third', imagesOf(third)) },
      ...takenBack(updates, 'broken-last', third),
      goesOn,
      { title: 'etcd 3.7', run: () => updates.settles('last', imagesOf(last)) },
      goesOn,
      { title: 'Restart the host', run: () => run.restart() },
    ];
  },
  (context) => new AllInOne(context, { payload: payloadOf(first) }),
);

function takenBack(
  updates: Updates,
  name: string,
  to: typeof first | typeof second | typeof third,
  onTrial?: () => Promise<void>,
): readonly ScenarioStep[] {
  return [
    { title: `${name}, power cut twice`, run: () => updates.cutTwice(name, onTrial) },
    { title: 'The host comes back by itself', run: () => updates.comesBack(imagesOf(to)) },
  ];
}

const workloadGoesOn = ({ cluster }: AllInOne, { signal }: LabContext): Promise<void> =>
  eventually(() => expectWorkload(cluster, signal), READY_MS, signal);

/** The API server of the update answers by now, or soon. */
const write = ({ cluster }: AllInOne, { signal }: LabContext): Promise<void> =>
  eventually(() => applyObject(cluster, written, signal), READY_MS, signal);

async function requireWritten({ cluster }: AllInOne, { signal }: LabContext): Promise<void> {
  const read = ['get', 'configmap', written.metadata.name, '-o', 'jsonpath={.data.sold}'];
  expectSame('what was written on trial', written.data.sold, await kubectl(cluster, read, signal));
}
