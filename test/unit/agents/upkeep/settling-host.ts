/** A host with an update in its places, whose control plane, API and runtime answer as one that settles. */
import type { Test } from 'tap';
import type { UpdateContext } from '../../../../agents/upkeep/update/context.ts';
import { settleUpdate } from '../../../../agents/upkeep/update/settle.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { type ApiAnswer, listOf, refuse } from '../host/api.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { PAYLOAD, PREPARED, STATE, updating } from './updating-host.ts';

const seconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
export const NOW = seconds(new Date());
const BOOT = new Date(Date.now() - 60_000);
/** After every container of a test was created. */
export const LATER = seconds(new Date(Date.now() + 120_000));
export const EARLIER = seconds(new Date(BOOT.getTime() - 60_000));
export const id = (component: string) => `sha256:${sha256(component)}`;
const condition = (type: string) => ({ type, status: 'True', lastHeartbeatTime: NOW });

export const manifestOf = (component: string, image: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${component}, namespace: kube-system}\nspec: {containers: [{name: ${component}, image: ${image}}]}\n`;

export const podOf = (
  component: string,
  { image = `r.test/${component}:2`, startedAt = NOW } = {},
) => ({
  metadata: { namespace: 'kube-system', name: `${component}-edge-0`, uid: component },
  spec: { nodeName: 'edge-0', containers: [{ name: component, image }] },
  status: {
    phase: 'Running',
    conditions: [condition('Ready')],
    containerStatuses: [
      {
        name: component,
        restartCount: 0,
        containerID: component,
        state: { running: { startedAt } },
      },
    ],
  },
});

export const lease = (name: string, acquireTime = NOW) => ({
  metadata: { namespace: 'kube-system', name },
  spec: { holderIdentity: 'edge-0_a', leaseDurationSeconds: 3600, acquireTime, renewTime: NOW },
});

const node = {
  metadata: { name: 'edge-0', uid: 'u' },
  status: { conditions: [condition('Ready')] },
};
const apiService = { metadata: { name: 'v1.' }, status: { conditions: [condition('Available')] } };
const none: ApiAnswer = () => listOf();
const unserved: ApiAnswer = () => refuse(404, 'not found', 'NotFound');

/** What is not as a settled host has it. */
export interface Differs {
  readonly pods?: () => readonly object[];
  readonly running?: () => readonly { readonly name: string; readonly id: string }[];
  readonly leases?: readonly object[] | (() => readonly object[]);
  /** When every container was created. */
  readonly createdAt?: Date;
  readonly manifests?: readonly object[];
  /** More of what the new executable has prepared. */
  readonly prepared?: object;
  /** How long nothing may change. */
  readonly windowMs?: number;
  /** As systemd-logind records it. */
  readonly scheduled?: string;
  readonly answers?: Readonly<Record<string, ApiAnswer>>;
  /** Further nodes of the cluster. */
  readonly nodes?: readonly string[];
  /** Further pods of the own node. */
  readonly ownPods?: readonly object[];
}

export async function settling(t: Test, differs: Differs = {}) {
  const {
    pods = () => components.map((component) => podOf(component)),
    running = () => components.map((name) => ({ name, id: id(name) })),
    leases = [lease('kube-controller-manager'), lease('kube-scheduler')],
    manifests = [],
  } = differs;
  const asked: string[] = [];
  const it = await updating(t, {
    settings: { updateWindowMs: differs.windowMs ?? 50 },
    readyz: () => {
      asked.push('readyz');
      return {};
    },
    answers: {
      'GET /api/v1/namespaces/kube-system/pods': () => {
        asked.push('mirror pods');
        return listOf(...pods(), ...(differs.ownPods ?? []));
      },
      'GET /api/v1/nodes': () => {
        asked.push('steady');
        const others = (differs.nodes ?? []).map((name) => ({
          ...node,
          metadata: { name, uid: name },
        }));
        return listOf(node, ...others);
      },
      'GET /api/v1/pods': () => listOf(...pods()),
      'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases': () =>
        listOf(...(typeof leases === 'function' ? leases() : leases)),
      'GET /apis/apiregistration.k8s.io/v1/apiservices': () => listOf(apiService),
      ...Object.fromEntries(
        ['deployments', 'daemonsets', 'statefulsets'].map((it) => [
          `GET /apis/apps/v1/${it}`,
          none,
        ]),
      ),
      'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': none,
      ...Object.fromEntries(
        ['config', 'machineconfiguration', 'operator', 'tuned'].map((group) => [
          `GET /apis/${group}.openshift.io/v1`,
          unserved,
        ]),
      ),
      'GET /api/v1': () => ({
        resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list'] }],
      }),
      'PATCH /api/v1/namespaces/kube-system/configmaps/add-on': ({ body }) => {
        asked.push(`add-on ${JSON.parse(body).data.is}`);
        return {};
      },
      ...differs.answers,
    },
  });
  const payload = JSON.parse(it.host.read(`${PAYLOAD}/payload.yaml`));
  const [first] = payload.images;
  const images = components.map((name) => ({
    ...first,
    ...{ name, reference: `r.test/${name}:2`, id: id(name) },
  }));
  it.host.write(`${PAYLOAD}/payload.yaml`, JSON.stringify({ ...payload, images }));
  for (const name of components) {
    const manifest = manifestOf(name, `r.test/${name}:2`);
    it.host.write(`/etc/kubernetes/manifests/${name}.yaml`, manifest, 0o600);
  }
  it.host.write(
    `${STATE}/prepared.json`,
    JSON.stringify({ ...PREPARED, manifests, ...differs.prepared }),
  );
  await fakeRuntime(t, it.host, () => [], {
    ListContainers: () => {
      asked.push('runtime');
      return {
        containers: running().map(({ name, id }) => ({
          id: `id-of-${name}`,
          metadata: { name },
          state: 'CONTAINER_RUNNING',
          imageRef: id,
          ...(differs.createdAt === undefined
            ? {}
            : { createdAt: `${differs.createdAt.getTime()}000000` }),
        })),
      };
    },
  });
  const context: UpdateContext = { ...it.context, bootTime: async () => BOOT };
  if (differs.scheduled !== undefined)
    it.host.write('/run/systemd/shutdown/scheduled', differs.scheduled);
  /** Runs the step settle. */
  const run = ({ leftMs = 300_000, signal = AbortSignal.timeout(300_000) } = {}) =>
    settleUpdate.run(context, it.host.progress(signal, leftMs));
  return { ...it, context, asked, run };
}
