import type { Test } from 'tap';
import { staticPodOperators } from '../../../../../lib/cluster/openshift/operators.ts';
import { administratorKubeconfigs } from '../../../../../lib/render/openshift/installed-access.ts';
import {
  operatorState,
  revisionStatus,
  staticPod,
  withConditions,
} from '../../../cluster/openshift/states.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf } from '../../host/api.ts';
import { type TestHost, testHost } from '../../host/host.ts';

/** The installed host of an OpenShift cluster. */
export const openShiftHost = (t: Test): TestHost =>
  testHost(t, { cluster: { controlPlane: 'openshift' } });

export const [bootstrapKubeconfig = '', operatorKubeconfig = ''] = administratorKubeconfigs;

/** An API server, and the bootstrap's kubeconfig for it. */
export async function openShiftApi(
  t: Test,
  host: TestHost,
  answers: Readonly<Record<string, ApiAnswer>>,
): Promise<readonly string[]> {
  const { requests } = await fakeApi(t, host, answers);
  host.write(bootstrapKubeconfig, host.read(kubeconfigs.bootstrapAdmin), 0o600);
  return requests;
}

/** Components whose operator's own static pod does not run yet. */
interface Missing {
  readonly notTakenOver?: readonly string[];
  readonly notInstalled?: true;
}

/** Everything that the steps of the installed host look at. */
export function clusterObjects({ notTakenOver = [], notInstalled }: Missing = {}) {
  const answers: Record<string, ApiAnswer> = {};
  for (const { component, plural, namespace, pod } of staticPodOperators) {
    const runs = !notTakenOver.includes(component);
    const state = operatorState(2, runs ? { currentRevision: 2 } : {});
    answers[`GET /apis/operator.openshift.io/v1/${plural}`] = () => listOf(state);
    answers[`GET /api/v1/namespaces/${namespace}/pods`] = () =>
      listOf(...(runs ? [staticPod(pod, 2)] : []));
    answers[`GET /api/v1/namespaces/${namespace}/configmaps`] = () =>
      listOf(
        revisionStatus(1, 'configmaps "x-pod-0" not found'),
        revisionStatus(2, `required secret/of-${component} has changed`),
      );
  }
  const version = {
    Available: [notInstalled === undefined ? 'True' : 'False', 'almost'],
    Failing: ['False'],
    Progressing: ['False'],
  } satisfies Parameters<typeof withConditions>[1];
  const config = 'GET /apis/config.openshift.io/v1';
  answers[`${config}/clusterversions`] = () => listOf(withConditions('version', version));
  answers[`${config}/clusteroperators`] = () =>
    listOf(withConditions('etcd', { Progressing: ['False', '', '2020-01-01T00:00:00Z'] }));
  return answers;
}
