import { z } from 'zod';
import type { Method } from '../grpc/client.ts';
import { int64, nanoseconds } from '../grpc/scalars.ts';

const states = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
} as const;
const containerState = z
  .enum(['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED', 'CONTAINER_UNKNOWN'])
  .transform((state) => states[state]);

const textMap = z.record(z.string(), z.string());
const containerMetadata = z.object({ name: z.string(), attempt: z.number().int() });

const container = z
  .object({
    id: z.string(),
    podSandboxId: z.string(),
    metadata: containerMetadata,
    image: z.object({ image: z.string() }).nullable(),
    imageRef: z.string(),
    state: containerState,
    createdAt: nanoseconds,
    labels: textMap,
    annotations: textMap,
  })
  .transform(({ metadata, createdAt, image, ...rest }) => ({
    ...rest,
    ...metadata,
    image: image?.image ?? '',
    createdAtMs: createdAt,
  }));

const containerStatus = z
  .object({
    id: z.string(),
    metadata: containerMetadata,
    state: containerState,
    createdAt: nanoseconds,
    startedAt: nanoseconds,
    finishedAt: nanoseconds,
    exitCode: z.number().int(),
    image: z.object({ image: z.string() }).nullable(),
    imageRef: z.string(),
    reason: z.string(),
    message: z.string(),
    labels: textMap,
    annotations: textMap,
    mounts: z.array(
      z.object({ containerPath: z.string(), hostPath: z.string(), readonly: z.boolean() }),
    ),
    logPath: z.string(),
  })
  .transform(({ metadata, image, createdAt, startedAt, finishedAt, ...rest }) => ({
    ...rest,
    ...metadata,
    image: image?.image ?? '',
    createdAtMs: createdAt,
    startedAtMs: startedAt,
    finishedAtMs: finishedAt,
  }));

const sandbox = z
  .object({
    id: z.string(),
    metadata: z.object({
      name: z.string(),
      uid: z.string(),
      namespace: z.string(),
      attempt: z.number().int(),
    }),
    state: z.enum(['SANDBOX_READY', 'SANDBOX_NOTREADY']),
    createdAt: nanoseconds,
    labels: textMap,
    annotations: textMap,
  })
  .transform(({ metadata, state, createdAt, ...rest }) => ({
    ...rest,
    ...metadata,
    ready: state === 'SANDBOX_READY',
    createdAtMs: createdAt,
  }));

const image = z.object({
  id: z.string(),
  repoTags: z.array(z.string()),
  repoDigests: z.array(z.string()),
  size: int64,
  pinned: z.boolean(),
});

/**
 * A container as listed by the runtime; `name` and `attempt` are the kubelet's,
 * times are since 1970.
 */
export type Container = z.infer<typeof container>;
/** Times are 0 until the event has happened. `logPath` and `hostPath` are on the host. */
export type CriContainerStatus = z.infer<typeof containerStatus>;
/** `name`, `uid` and `namespace` are the pod's. */
export type PodSandbox = z.infer<typeof sandbox>;
/** `id` is the digest of the image's configuration: `sha256:…`. `size` in bytes. */
export type Image = z.infer<typeof image>;

const version = z.object({
  runtimeName: z.string(),
  runtimeVersion: z.string(),
  runtimeApiVersion: z.string(),
});
export type RuntimeVersion = z.infer<typeof version>;

const condition = z.object({
  type: z.string(),
  status: z.boolean(),
  reason: z.string(),
  message: z.string(),
});
/** `RuntimeReady` and `NetworkReady`. */
export type CriCondition = z.infer<typeof condition>;

function runtime<T>(name: string, response: z.ZodType<T>): Method<T> {
  return { path: `/runtime.v1.RuntimeService/${name}`, response };
}

function images<T>(name: string, response: z.ZodType<T>): Method<T> {
  return { path: `/runtime.v1.ImageService/${name}`, response };
}

export const versionMethod = runtime('Version', version);
export const criStatusMethod = runtime(
  'Status',
  z.object({ status: z.object({ conditions: z.array(condition) }), info: textMap }),
);
export const runtimeConfigMethod = runtime(
  'RuntimeConfig',
  z.object({ linux: z.object({ cgroupDriver: z.enum(['SYSTEMD', 'CGROUPFS']) }).nullable() }),
);
export const listContainersMethod = runtime(
  'ListContainers',
  z.object({ containers: z.array(container) }),
);
export const containerStatusMethod = runtime(
  'ContainerStatus',
  z.object({ status: containerStatus, info: textMap }),
);
export const listPodSandboxMethod = runtime(
  'ListPodSandbox',
  z.object({ items: z.array(sandbox) }),
);
const nothing = z.object({}).transform(() => undefined);
export const stopContainerMethod = runtime('StopContainer', nothing);
export const stopPodSandboxMethod = runtime('StopPodSandbox', nothing);
export const removePodSandboxMethod = runtime('RemovePodSandbox', nothing);
export const containerEventsMethod = runtime(
  'GetContainerEvents',
  z.object({ containerId: z.string() }),
);
export const listImagesMethod = images('ListImages', z.object({ images: z.array(image) }));
export const imageStatusMethod = images('ImageStatus', z.object({ image: image.nullable() }));
