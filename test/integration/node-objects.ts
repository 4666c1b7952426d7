import type { Limits } from '../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import {
  type KubeObject,
  objectSchema,
  type Resource,
  resources,
} from '../../lib/clients/kube/resources.ts';

/** What a node, its pods and its leaders say of themselves, on an API server that has none of them. */
export class NodeObjects {
  readonly #admin: KubeClient;
  readonly #name: string;
  readonly #limits: Limits;

  constructor(admin: KubeClient, name: string, limits: Limits) {
    this.#admin = admin;
    this.#name = name;
    this.#limits = limits;
  }

  /** Ready, by a heartbeat of now. */
  async node(): Promise<void> {
    const condition = {
      ...{ type: 'Ready', status: 'True', reason: 'Test' },
      lastHeartbeatTime: seconds(new Date()),
    };
    await put(
      this.#admin,
      plain('v1', 'nodes'),
      undefined,
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: this.#name },
        status: { conditions: [condition] },
      },
      this.#limits,
    );
  }

  /** Running and ready on that node. */
  async pod(namespace: string, name: string, startedAt: Date): Promise<void> {
    const container = { name: 'main', image: 'i', imageID: 'i', ready: true, restartCount: 0 };
    const running = { startedAt: seconds(startedAt) };
    await put(
      this.#admin,
      plain('v1', 'pods'),
      namespace,
      {
        apiVersion: 'v1',
        kind: 'Pod',
        // A mirror pod, which needs no service account: nothing creates one here.
        metadata: { name, annotations: { 'kubernetes.io/config.mirror': 'h' } },
        spec: { nodeName: this.#name, containers: [{ name: 'main', image: 'i' }] },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [{ ...container, state: { running } }],
        },
      },
      this.#limits,
    );
  }

  /** Held for an hour. */
  async lease(name: string): Promise<void> {
    const now = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      ...{ holderIdentity: `${this.#name}_a`, leaseDurationSeconds: 3600 },
      ...{ acquireTime: now, renewTime: now },
    };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
    await this.#admin.create(resources.leases, { namespace: 'kube-system' }, body, this.#limits);
  }
}

export const plain = (apiVersion: string, plural: string): Resource => ({
  apiVersion,
  plural,
  schema: objectSchema,
});

/** Creates the object unless it exists, and sets its status. */
export async function put(
  to: KubeClient,
  resource: Resource,
  namespace: string | undefined,
  object: KubeObject & Record<string, unknown>,
  limits: Limits,
): Promise<void> {
  const { status, ...body } = object;
  const place = { namespace, name: object.metadata.name };
  const found = await to.find(resource, place, limits);
  const now = found ?? (await to.create(resource, { namespace }, body, limits));
  if (status === undefined) return;
  await to.replace(resource, { ...place, subresource: 'status' }, { ...now, status }, limits);
}

/** As the API server writes a time. */
export const seconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
