import type { V1Container, V1HTTPGetAction, V1Pod } from '@kubernetes/client-node';
import { Failure } from '../../base/errors/failure.ts';
import { writeGoYaml } from '../../base/go-yaml/write.ts';
import type { KeylessInput, PodRole, StaticPod } from '../renderer.ts';

/** In start order. */
export const components = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;
export type Component = (typeof components)[number];

/** The file of a component's manifest in the kubelet's folder of static pods. */
export const manifestFile = (component: Component): string => `${component}.yaml`;

/** An HTTP health path on loopback, which the kubelet reaches because of hostNetwork. */
export interface HealthCheck {
  path: string;
  port: number;
  scheme: 'HTTP' | 'HTTPS';
}

export interface Mount {
  /** The folder, the same on the host and in the container. It must exist. */
  path: string;
  writable?: boolean;
}

export interface ControlPlanePod {
  component: Component;
  role: PodRole;
  /** Arguments after the program's name. */
  args: readonly string[];
  mounts: readonly Mount[];
  requests: { cpu: string; memory: string };
  live: HealthCheck;
  ready: HealthCheck;
  /** How long a stop may take before the kubelet kills the container. */
  terminationGracePeriodSeconds: number;
}

/**
 * The manifest of one control plane component. It must be the same for the same input:
 * the kubelet derives the pod's uid from it, and another uid is another pod.
 *
 * @throws Failure (fatal) when the payload has no image for the component.
 */
export function staticPod(pod: ControlPlanePod, { host }: KeylessInput): StaticPod {
  const { component } = pod;
  const image = host.images[component];
  if (image === undefined) {
    throw new Failure('fatal', `the payload has no image of ${component}`, {
      fix: 'Use a complete payload.',
    });
  }
  const manifest: V1Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: component,
      namespace: 'kube-system',
      labels: {
        'app.kubernetes.io/name': component,
        component,
        tier: 'control-plane',
      },
    },
    spec: {
      hostNetwork: true,
      dnsPolicy: 'Default',
      enableServiceLinks: false,
      // Both: no admission plugin resolves the name for the standalone kubelet.
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container(pod, image)],
      volumes: pod.mounts.map(({ path }) => ({
        name: volumeName(path),
        // Not created on demand: a missing folder is an error, not an empty database.
        hostPath: { path, type: 'Directory' },
      })),
    },
  };
  return {
    component,
    role: pod.role,
    file: manifestFile(component),
    container: component,
    manifest: writeGoYaml(manifest),
  };
}

function container(pod: ControlPlanePod, image: string): V1Container {
  return {
    name: pod.component,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [pod.component, ...pod.args],
    resources: { requests: pod.requests },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
      // The folders of the host keep the labels of its policy, which a confined container cannot read.
      seLinuxOptions: { type: 'spc_t' },
    },
    startupProbe: {
      httpGet: httpGet(pod.live),
      periodSeconds: 2,
      timeoutSeconds: 5,
      // Ten minutes, for a large database on a slow disk and an API server that waits for it.
      failureThreshold: 300,
    },
    livenessProbe: {
      httpGet: httpGet(pod.live),
      periodSeconds: 10,
      timeoutSeconds: 15,
      failureThreshold: 8,
    },
    readinessProbe: {
      httpGet: httpGet(pod.ready),
      periodSeconds: 2,
      timeoutSeconds: 15,
      failureThreshold: 3,
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: pod.mounts.map(({ path, writable = false }) => ({
      name: volumeName(path),
      mountPath: path,
      readOnly: !writable,
    })),
  };
}

function httpGet({ path, port, scheme }: HealthCheck): V1HTTPGetAction {
  return { host: '127.0.0.1', path, port, scheme };
}

function volumeName(path: string): string {
  return path.slice(1).replaceAll('/', '-');
}

/** `--name=value` for each entry; a list becomes comma-separated. */
export function flags(
  values: Readonly<Record<string, string | number | boolean | readonly string[]>>,
): string[] {
  return Object.entries(values).map(
    ([name, value]) => `--${name}=${Array.isArray(value) ? value.join(',') : String(value)}`,
  );
}
