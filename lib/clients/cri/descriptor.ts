import { protoMessage, protoPackage, rpcMethod } from '../grpc/proto.ts';

/**
 * The part of the container runtime interface that is used here, by the field
 * numbers of k8s.io/cri-api (pkg/apis/runtime/v1/api.proto).
 */
export const criDescriptor = protoPackage('runtime.v1', {
  VersionRequest: protoMessage(),
  VersionResponse: protoMessage(`
    string runtimeName = 2; string runtimeVersion = 3; string runtimeApiVersion = 4;
  `),
  RuntimeCondition: protoMessage(`
    string type = 1; bool status = 2; string reason = 3; string message = 4;
  `),
  RuntimeStatus: protoMessage('repeated RuntimeCondition conditions = 1'),
  StatusRequest: protoMessage('bool verbose = 1'),
  StatusResponse: protoMessage('RuntimeStatus status = 1; map<string, string> info = 2'),
  RuntimeConfigRequest: protoMessage(),
  CgroupDriver: { values: { SYSTEMD: 0, CGROUPFS: 1 } },
  LinuxRuntimeConfiguration: protoMessage('CgroupDriver cgroupDriver = 1'),
  RuntimeConfigResponse: protoMessage('LinuxRuntimeConfiguration linux = 1'),
  ContainerState: {
    values: {
      CONTAINER_CREATED: 0,
      CONTAINER_RUNNING: 1,
      CONTAINER_EXITED: 2,
      CONTAINER_UNKNOWN: 3,
    },
  },
  ContainerMetadata: protoMessage('string name = 1; uint32 attempt = 2'),
  ImageSpec: protoMessage('string image = 1'),
  Mount: protoMessage('string containerPath = 1; string hostPath = 2; bool readonly = 3'),
  Container: protoMessage(`
    string id = 1; string podSandboxId = 2; ContainerMetadata metadata = 3; ImageSpec image = 4;
    string imageRef = 5; ContainerState state = 6; int64 createdAt = 7;
    map<string, string> labels = 8; map<string, string> annotations = 9;
  `),
  ListContainersRequest: protoMessage(),
  ListContainersResponse: protoMessage('repeated Container containers = 1'),
  ContainerStatusRequest: protoMessage('string containerId = 1; bool verbose = 2'),
  ContainerStatus: protoMessage(`
    string id = 1; ContainerMetadata metadata = 2; ContainerState state = 3; int64 createdAt = 4;
    int64 startedAt = 5; int64 finishedAt = 6; int32 exitCode = 7; ImageSpec image = 8;
    string imageRef = 9; string reason = 10; string message = 11; map<string, string> labels = 12;
    map<string, string> annotations = 13; repeated Mount mounts = 14; string logPath = 15;
  `),
  ContainerStatusResponse: protoMessage('ContainerStatus status = 1; map<string, string> info = 2'),
  PodSandboxState: { values: { SANDBOX_READY: 0, SANDBOX_NOTREADY: 1 } },
  PodSandboxMetadata: protoMessage(`
    string name = 1; string uid = 2; string namespace = 3; uint32 attempt = 4;
  `),
  PodSandbox: protoMessage(`
    string id = 1; PodSandboxMetadata metadata = 2; PodSandboxState state = 3; int64 createdAt = 4;
    map<string, string> labels = 5; map<string, string> annotations = 6;
  `),
  ListPodSandboxRequest: protoMessage(),
  ListPodSandboxResponse: protoMessage('repeated PodSandbox items = 1'),
  StopContainerRequest: protoMessage('string containerId = 1; int64 timeout = 2'),
  StopContainerResponse: protoMessage(),
  StopPodSandboxRequest: protoMessage('string podSandboxId = 1'),
  StopPodSandboxResponse: protoMessage(),
  RemovePodSandboxRequest: protoMessage('string podSandboxId = 1'),
  RemovePodSandboxResponse: protoMessage(),
  GetEventsRequest: protoMessage(),
  ContainerEventResponse: protoMessage('string containerId = 1'),
  Image: protoMessage(`
    string id = 1; repeated string repoTags = 2; repeated string repoDigests = 3; uint64 size = 4;
    bool pinned = 8;
  `),
  ListImagesRequest: protoMessage(),
  ListImagesResponse: protoMessage('repeated Image images = 1'),
  ImageStatusRequest: protoMessage('ImageSpec image = 1'),
  ImageStatusResponse: protoMessage('Image image = 1'),
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
});
