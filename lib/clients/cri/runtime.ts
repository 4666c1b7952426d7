import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { credentials, status } from '@grpc/grpc-js';
import { Failure } from '../../base/errors/failure.ts';
import type { HostPaths } from '../../host/paths.ts';
import { type CallLimits, RpcClient } from '../grpc/client.ts';
import { isRpcFailure } from '../grpc/failure.ts';
import { criDescriptor } from './descriptor.ts';
import type { RuntimeKind } from './kind.ts';
import {
  type Container,
  type CriCondition,
  type CriContainerStatus,
  containerEventsMethod,
  containerStatusMethod,
  criStatusMethod,
  type Image,
  imageStatusMethod,
  listContainersMethod,
  listImagesMethod,
  listPodSandboxMethod,
  type PodSandbox,
  type RuntimeVersion,
  removePodSandboxMethod,
  runtimeConfigMethod,
  stopContainerMethod,
  stopPodSandboxMethod,
  versionMethod,
} from './messages.ts';
import { parseRuntimeSettings } from './runtime-settings.ts';

export interface RuntimeStatus {
  /** Whether the runtime, and separately the pod network, is ready. */
  conditions: CriCondition[];
  cgroupDriver: 'systemd' | 'cgroupfs';
  /** The image of every pod sandbox, if the runtime reports it: containerd before 2.0. */
  sandboxImage?: string;
  /** The folders in which it looks for network plugins, if it reports them. */
  pluginFolders?: readonly string[];
}

export interface ContainerDetails {
  readonly status: CriContainerStatus;
  readonly info: Readonly<Record<string, string>>;
}

/**
 * The host's runtime. CRI-O if it runs: it serves nothing but kubelets, while containerd may also have
 * been installed for Docker. Containerd if neither runs yet.
 */
export function connectHostRuntime(paths: Pick<HostPaths, 'runtimeSockets'>): ContainerRuntime {
  return connectRuntime(runningSocket(paths) ?? paths.runtimeSockets[0]);
}

/** The socket of the runtime that runs, if any does. */
export function runningSocket({
  runtimeSockets,
}: Pick<HostPaths, 'runtimeSockets'>): string | undefined {
  return runtimeSockets.findLast((path) => existsSync(path));
}

/** Nothing is sent until the first call. */
export function connectRuntime(socket: string): ContainerRuntime {
  const rpc = new RpcClient({
    name: `the container runtime at ${socket}`,
    address: `unix:${socket}`,
    credentials: credentials.createInsecure(),
    descriptor: criDescriptor,
  });
  return new ContainerRuntime(socket, rpc);
}

/** The host's container runtime, by CRI v1. Every call throws RpcFailure, or the signal's reason. */
export class ContainerRuntime {
  readonly socket: string;
  readonly #rpc: RpcClient;

  constructor(socket: string, rpc: RpcClient) {
    this.socket = socket;
    this.#rpc = rpc;
  }

  get kind(): RuntimeKind {
    return basename(this.socket) === 'crio.sock' ? 'cri-o' : 'containerd';
  }

  /** Closes the connection. */
  [Symbol.dispose](): void {
    this.#rpc[Symbol.dispose]();
  }

  /** With `waitForReady` in the limits, waits for the runtime to come up. */
  version(limits: CallLimits): Promise<RuntimeVersion> {
    return this.#rpc.unary(versionMethod, {}, limits);
  }

  /** @throws Failure (fatal) if the runtime does not report its cgroup driver. */
  async status(limits: CallLimits): Promise<RuntimeStatus> {
    const answer = await this.#rpc.unary(criStatusMethod, { verbose: true }, limits);
    const settings = parseRuntimeSettings(answer.info.config);
    const cgroupDriver = (await this.#configuredCgroupDriver(limits)) ?? settings.cgroupDriver;
    if (cgroupDriver === undefined) {
      const what = `The container runtime at ${this.socket} reports no cgroup driver`;
      const expected = 'an answer to RuntimeConfig, or the configuration in its verbose status';
      throw new Failure('fatal', what, { expected });
    }
    return { ...settings, conditions: answer.status.conditions, cgroupDriver };
  }

  /** Whether the runtime, and separately the pod network, is ready. */
  async conditions(limits: CallLimits): Promise<CriCondition[]> {
    return (await this.#rpc.unary(criStatusMethod, { verbose: false }, limits)).status.conditions;
  }

  async listContainers(limits: CallLimits): Promise<Container[]> {
    return (await this.#rpc.unary(listContainersMethod, {}, limits)).containers;
  }

  /** Undefined if the container no longer exists. */
  async containerStatus(id: string, limits: CallLimits): Promise<CriContainerStatus | undefined> {
    return (await this.#containerStatus(id, false, limits))?.status;
  }

  /**
   * Includes runtime details beyond CRI (JSON text by name); undefined if there is
   * no such container.
   */
  async inspectContainer(id: string, limits: CallLimits): Promise<ContainerDetails | undefined> {
    return this.#containerStatus(id, true, limits);
  }

  async #containerStatus(
    id: string,
    verbose: boolean,
    limits: CallLimits,
  ): Promise<ContainerDetails | undefined> {
    try {
      return await this.#rpc.unary(containerStatusMethod, { containerId: id, verbose }, limits);
    } catch (error) {
      if (isRpcFailure(error, status.NOT_FOUND)) return undefined;
      throw error;
    }
  }

  async listPodSandboxes(limits: CallLimits): Promise<PodSandbox[]> {
    return (await this.#rpc.unary(listPodSandboxMethod, {}, limits)).items;
  }

  /** Ends a container: its main process is asked first, and killed after the grace. */
  async stopContainer(id: string, graceSeconds: number, limits: CallLimits): Promise<void> {
    const request = { containerId: id, timeout: graceSeconds };
    await this.#rpc.unary(stopContainerMethod, request, limits);
  }

  /** Kills what still runs in a pod, and takes its network away. */
  async stopPodSandbox(id: string, limits: CallLimits): Promise<void> {
    await this.#rpc.unary(stopPodSandboxMethod, { podSandboxId: id }, limits);
  }

  /** With its containers. */
  async removePodSandbox(id: string, limits: CallLimits): Promise<void> {
    await this.#rpc.unary(removePodSandboxMethod, { podSandboxId: id }, limits);
  }

  async listImages(limits: CallLimits): Promise<Image[]> {
    return (await this.#rpc.unary(listImagesMethod, {}, limits)).images;
  }

  /** The image with this name or id; undefined if there is none. */
  async imageStatus(reference: string, limits: CallLimits): Promise<Image | undefined> {
    const request = { image: { image: reference } };
    const { image } = await this.#rpc.unary(imageStatusMethod, request, limits);
    return image === null ? undefined : { ...image, id: withAlgorithm(image.id) };
  }

  /**
   * The id of each container that changed, as it happens.
   * @throws RpcFailure with code UNIMPLEMENTED on containerd before 1.7.
   */
  async *containerEvents(limits: CallLimits): AsyncGenerator<string> {
    for await (const { containerId } of this.#rpc.serverStream(containerEventsMethod, {}, limits)) {
      yield containerId;
    }
  }

  /** Whether it tells a kubelet its cgroup driver: containerd from 2.0 on, CRI-O from 1.28 on. */
  async hasRuntimeConfig(limits: CallLimits): Promise<boolean> {
    return (await this.#configuredCgroupDriver(limits)) !== undefined;
  }

  async #configuredCgroupDriver(limits: CallLimits): Promise<'systemd' | 'cgroupfs' | undefined> {
    try {
      const { linux } = await this.#rpc.unary(runtimeConfigMethod, {}, limits);
      if (linux === null) return undefined;
      return linux.cgroupDriver === 'SYSTEMD' ? 'systemd' : 'cgroupfs';
    } catch (error) {
      if (isRpcFailure(error, status.UNIMPLEMENTED)) return undefined;
      throw error;
    }
  }
}

/** CRI-O leaves out the algorithm of an image's id. */
const withAlgorithm = (id: string): string => (/^[0-9a-f]{64}$/.test(id) ? `sha256:${id}` : id);
