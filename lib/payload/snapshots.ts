import { randomUUID } from 'node:crypto';
import { credentials, status } from '@grpc/grpc-js';
import { z } from 'zod';
import type { Limits } from '../base/wait/limits.ts';
import { type Method, RpcClient } from '../clients/grpc/client.ts';
import { isRpcFailure } from '../clients/grpc/failure.ts';
import { protoMessage, protoPackage, rpcMethod } from '../clients/grpc/proto.ts';

/** containerd's own API, by the field numbers of its api/services/snapshots/v1/snapshots.proto. */
const descriptor = protoPackage('containerd.services.snapshots.v1', {
  Mount: protoMessage('string type = 1; string source = 2; repeated string options = 4'),
  ViewSnapshotRequest: protoMessage('string snapshotter = 1; string key = 2; string parent = 3'),
  ViewSnapshotResponse: protoMessage('repeated Mount mounts = 1'),
  RemoveSnapshotRequest: protoMessage('string snapshotter = 1; string key = 2'),
  Empty: protoMessage(),
  Snapshots: {
    methods: {
      View: rpcMethod('ViewSnapshotRequest', 'ViewSnapshotResponse'),
      Remove: rpcMethod('RemoveSnapshotRequest', 'Empty'),
    },
  },
});

const path = (name: string) => `/containerd.services.snapshots.v1.Snapshots/${name}`;
const view: Method<{ mounts: { type: string; source: string; options: string[] }[] }> = {
  path: path('View'),
  response: z.object({
    mounts: z.array(
      z.object({ type: z.string(), source: z.string(), options: z.array(z.string()) }),
    ),
  }),
};
const remove: Method<unknown> = { path: path('Remove'), response: z.object({}) };

/** The one into which `ctr images import` unpacks. */
const snapshotter = 'overlayfs';

/** The unpacked layers in containerd, each by its chain id (OCI image specification, "Layer ChainID"). */
export class Snapshots {
  readonly #rpc: RpcClient;

  constructor(socket: string, namespace: string) {
    this.#rpc = new RpcClient({
      name: `containerd at ${socket}`,
      address: `unix:${socket}`,
      credentials: credentials.createInsecure(),
      metadata: { 'containerd-namespace': namespace },
      descriptor,
    });
  }

  [Symbol.dispose](): void {
    this.#rpc[Symbol.dispose]();
  }

  /**
   * The folder that has the files of this layer alone; undefined if it is not unpacked.
   *
   * @throws RpcFailure
   */
  async folderOf(chainId: string, limits: Limits): Promise<string | undefined> {
    // A view names the folders of a layer and of those below it. Nothing is mounted.
    const key = `sno-agents-${randomUUID()}`;
    try {
      const { mounts } = await this.#rpc.unary(view, { snapshotter, key, parent: chainId }, limits);
      const [mount] = mounts;
      const lower = mount?.options.find((option) => option.startsWith('lowerdir='));
      return lower === undefined ? mount?.source : lower.slice('lowerdir='.length).split(':')[0];
    } catch (error) {
      if (isRpcFailure(error, status.NOT_FOUND)) return undefined;
      throw error;
    } finally {
      await this.remove(key, limits);
    }
  }

  /** Whether it no longer exists: false while a container or another layer needs it. @throws RpcFailure */
  async remove(key: string, limits: Limits): Promise<boolean> {
    try {
      await this.#rpc.unary(remove, { snapshotter, key }, limits);
    } catch (error) {
      if (isRpcFailure(error, status.FAILED_PRECONDITION)) return false;
      if (!isRpcFailure(error, status.NOT_FOUND)) throw error;
    }
    return true;
  }
}
