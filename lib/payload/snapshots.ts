import { randomUUID } from 'node:crypto';
import { credentials, status } from '@grpc/grpc-js';
import { z } from 'zod';
import type { Limits } from '../base/wait/limits.ts';
import { type Descriptor, type Method, RpcClient } from '../clients/grpc/client.ts';
import { isRpcFailure } from '../clients/grpc/failure.ts';
import { rpcMethod } from '../clients/grpc/method.ts';

/** containerd's own API, by the field numbers of its api/services/snapshots/v1/snapshots.proto. */
const descriptor: Descriptor = {
  nested: {
    containerd: {
      nested: {
        services: {
          nested: {
            snapshots: {
              nested: {
                v1: {
                  nested: {
                    Mount: {
                      fields: {
                        type: { type: 'string', id: 1 },
                        source: { type: 'string', id: 2 },
                        options: { rule: 'repeated', type: 'string', id: 4 },
                      },
                    },
                    ViewSnapshotRequest: {
                      fields: {
                        snapshotter: { type: 'string', id: 1 },
                        key: { type: 'string', id: 2 },
                        parent: { type: 'string', id: 3 },
                      },
                    },
                    ViewSnapshotResponse: {
                      fields: { mounts: { rule: 'repeated', type: 'Mount', id: 1 } },
                    },
                    RemoveSnapshotRequest: {
                      fields: {
                        snapshotter: { type: 'string', id: 1 },
                        key: { type: 'string', id: 2 },
                      },
                    },
                    Empty: { fields: {} },
                    Snapshots: {
                      methods: {
                        View: rpcMethod('ViewSnapshotRequest', 'ViewSnapshotResponse'),
                        Remove: rpcMethod('RemoveSnapshotRequest', 'Empty'),
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

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
