import type { Descriptor } from '../grpc/client.ts';
import { rpcMethod } from '../grpc/method.ts';

const text = (id: number) => ({ type: 'string', id });
const flag = (id: number) => ({ type: 'bool', id });
const int64 = (id: number) => ({ type: 'int64', id });
const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ rule: 'repeated', type, id });
const map = (id: number) => ({ keyType: 'string', type: 'string', id });

/**
 * The part of the container runtime interface that is used here, by the field
 * numbers of k8s.io/cri-api (pkg/apis/runtime/v1/api.proto).
 */
export const criDescriptor: Descriptor = {
  nested: {
    runtime: {
      nested: {
        v1: {
          nested: {
            VersionRequest: { fields: {} },
            VersionResponse: {
              fields: { runtimeName: text(2), runtimeVersion: text(3), runtimeApiVersion: text(4) },
            },
            RuntimeCondition: {
              fields: { type: text(1), status: flag(2), reason: text(3), message: text(4) },
            },
            RuntimeStatus: { fields: { conditions: many('RuntimeCondition', 1) } },
            StatusRequest: { fields: { verbose: flag(1) } },
            StatusResponse: { fields: { status: one('RuntimeStatus', 1), info: map(2) } },
            RuntimeConfigRequest: { fields: {} },
            CgroupDriver: { values: { SYSTEMD: 0, CGROUPFS: 1 } },
            LinuxRuntimeConfiguration: { fields: { cgroupDriver: one('CgroupDriver', 1) } },
            RuntimeConfigResponse: { fields: { linux: one('LinuxRuntimeConfiguration', 1) } },
            ContainerState: {
              values: {
                CONTAINER_CREATED: 0,
                CONTAINER_RUNNING: 1,
                CONTAINER_EXITED: 2,
                CONTAINER_UNKNOWN: 3,
              },
            },
            ContainerMetadata: { fields: { name: text(1), attempt: one('uint32', 2) } },
            ImageSpec: { fields: { image: text(1) } },
            Mount: {
              fields: { containerPath: text(1), hostPath: text(2), readonly: flag(3) },
            },
            Container: {
              fields: {
                id: text(1),
                podSandboxId: text(2),
                metadata: one('ContainerMetadata', 3),
                image: one('ImageSpec', 4),
                imageRef: text(5),
                state: one('ContainerState', 6),
                createdAt: int64(7),
                labels: map(8),
                annotations: map(9),
              },
            },
            ListContainersRequest: { fields: {} },
            ListContainersResponse: { fields: { containers: many('Container', 1) } },
            ContainerStatusRequest: { fields: { containerId: text(1), verbose: flag(2) } },
            ContainerStatus: {
              fields: {
                id: text(1),
                metadata: one('ContainerMetadata', 2),
                state: one('ContainerState', 3),
                createdAt: int64(4),
                startedAt: int64(5),
                finishedAt: int64(6),
                exitCode: one('int32', 7),
                image: one('ImageSpec', 8),
                imageRef: text(9),
                reason: text(10),
                message: text(11),
                labels: map(12),
                annotations: map(13),
                mounts: many('Mount', 14),
                logPath: text(15),
              },
            },
            ContainerStatusResponse: {
              fields: { status: one('ContainerStatus', 1), info: map(2) },
            },
            PodSandboxState: { values: { SANDBOX_READY: 0, SANDBOX_NOTREADY: 1 } },
            PodSandboxMetadata: {
              fields: {
                name: text(1),
                uid: text(2),
                namespace: text(3),
                attempt: one('uint32', 4),
              },
            },
            PodSandbox: {
              fields: {
                id: text(1),
                metadata: one('PodSandboxMetadata', 2),
                state: one('PodSandboxState', 3),
                createdAt: int64(4),
                labels: map(5),
                annotations: map(6),
              },
            },
            ListPodSandboxRequest: { fields: {} },
            ListPodSandboxResponse: { fields: { items: many('PodSandbox', 1) } },
            StopContainerRequest: { fields: { containerId: text(1), timeout: int64(2) } },
            StopContainerResponse: { fields: {} },
            StopPodSandboxRequest: { fields: { podSandboxId: text(1) } },
            StopPodSandboxResponse: { fields: {} },
            RemovePodSandboxRequest: { fields: { podSandboxId: text(1) } },
            RemovePodSandboxResponse: { fields: {} },
            GetEventsRequest: { fields: {} },
            ContainerEventResponse: { fields: { containerId: text(1) } },
            Image: {
              fields: {
                id: text(1),
                repoTags: many('string', 2),
                repoDigests: many('string', 3),
                size: one('uint64', 4),
                pinned: flag(8),
              },
            },
            ListImagesRequest: { fields: {} },
            ListImagesResponse: { fields: { images: many('Image', 1) } },
            ImageStatusRequest: { fields: { image: one('ImageSpec', 1) } },
            ImageStatusResponse: { fields: { image: one('Image', 1) } },
            RuntimeService: {
              methods: {
                Version: rpcMethod('VersionRequest', 'VersionResponse'),
                Status: rpcMethod('StatusRequest', 'StatusResponse'),
                RuntimeConfig: rpcMethod('RuntimeConfigRequest', 'RuntimeConfigResponse'),
                ListContainers: rpcMethod('ListContainersRequest', 'ListContainersResponse'),
                ContainerStatus: rpcMethod('ContainerStatusRequest', 'ContainerStatusResponse'),
                ListPodSandbox: rpcMethod('ListPodSandboxRequest', 'ListPodSandboxResponse'),
                StopContainer: rpcMethod('StopContainerRequest', 'StopContainerResponse'),
                StopPodSandbox: rpcMethod('StopPodSandboxRequest', 'StopPodSandboxResponse'),
                RemovePodSandbox: rpcMethod('RemovePodSandboxRequest', 'RemovePodSandboxResponse'),
                GetContainerEvents: rpcMethod('GetEventsRequest', 'ContainerEventResponse', {
                  responseStream: true,
                }),
              },
            },
            ImageService: {
              methods: {
                ListImages: rpcMethod('ListImagesRequest', 'ListImagesResponse'),
                ImageStatus: rpcMethod('ImageStatusRequest', 'ImageStatusResponse'),
              },
            },
          },
        },
      },
    },
  },
};
