import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ControlPlane } from '../../lab/servers/control-plane.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { servingSigner } from '../../lib/clients/kube/signers.ts';
import { watchObjects } from '../../lib/clients/kube/watch-objects.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import { userOfNode } from '../../lib/cluster/csr/checks.ts';
import { viewOfThisHost } from '../../lib/cluster/csr/this-host.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { administrators } from '../../lib/pki/kubeconfig.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { servingRequest } from '../waits/serving-request.ts';
import { costlyRequests } from './costly-requests.ts';

const { certificateSigningRequests } = resources;
const NODE = 'bench-node';
const ADDRESS = '192.0.2.10';
const NONE = { title: 'none', pem: '' };
const ONE_MS = 30_000;
const AT_ONCE = 16;
const serving = {
  signerName: servingSigner,
  usages: ['digital signature', 'server auth'],
} as const;

type Clients = Readonly<Record<'approver' | 'kubelet' | 'stranger' | 'observer', KubeClient>>;

/** An approver of a host in a folder, its kubelet, and somebody who sees what happens when. */
export class Trial {
  readonly #limits: { readonly signal: AbortSignal; readonly deadlineMs: number };
  readonly #clients: Clients;
  readonly #ended = new AbortController();
  /** When the approver reported the approval of a request, and when the observer saw it first. */
  readonly #approved = new Map<string, PromiseWithResolvers<number>>();
  readonly #seen = new Map<string, number>();
  readonly #costly = costlyRequests(NODE);
  #sentCostly = 0;
  #count = 0;
  /** Titles of the costly requests that the API server itself refuses. */
  readonly refused = new Set<string>();

  static async start(controlPlane: ControlPlane, folder: string, signal: AbortSignal) {
    const kubelet = await controlPlane.access({
      name: userOfNode(NODE),
      groups: ['system:nodes'],
    });
    const admin = (name: string) => controlPlane.client({ name, groups: [administrators] });
    const trial = new Trial(signal, {
      approver: await admin('bench-approver'),
      observer: await admin('bench-observer'),
      stranger: await admin('bench-stranger'),
      kubelet: new KubeClient(kubelet),
    });
    const paths = hostPaths(join(folder, 'host'));
    await trial.#registerNode();
    await write(paths.at('/etc/hostname'), `${NODE}\n`);
    await write(join(paths.config, 'kubelet.env'), `KUBELET_NODE_IPS=${ADDRESS}\n`);
    await write(paths.at(kubeletPaths.clientPair), kubelet.certificate + kubelet.key);
    trial.#follow(paths);
    return trial;
  }

  private constructor(signal: AbortSignal, clients: Clients) {
    this.#limits = { signal, deadlineMs: ONE_MS };
    this.#clients = clients;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('the benchmark has ended'));
    for (const client of Object.values(this.#clients)) client[Symbol.dispose]();
  }

  /** Milliseconds from the moment at which the node's request is visible to its approval. */
  async approval(): Promise<number> {
    this.#count += 1;
    const name = `own-${this.#count}`;
    const approved = Promise.withResolvers<number>();
    this.#approved.set(name, approved);
    const request = await servingRequest(NODE, ADDRESS);
    await this.#send(this.#clients.kubelet, name, request);
    const answered = performance.now();
    const at = await approved.promise;
    return at - Math.min(answered, this.#seen.get(name) ?? answered);
  }

  /** Milliseconds of a GET of a request and the PUT of its approval. */
  async getAndPut(): Promise<number> {
    this.#count += 1;
    const name = `other-${this.#count}`;
    await this.#send(this.#clients.stranger, name, await servingRequest(NODE, ADDRESS));
    const { observer } = this.#clients;
    const began = performance.now();
    const found = await observer.get(certificateSigningRequests, { name }, this.#limits);
    const condition = { type: 'Approved', status: 'True', reason: 'Bench', message: 'bench' };
    const body = { ...found, status: { conditions: [condition] } };
    const place = { name, subresource: 'approval' };
    await observer.replace(certificateSigningRequests, place, body, this.#limits);
    return performance.now() - began;
  }

  /** Sends requests that stay pending. */
  async sendStrangers(count: number): Promise<void> {
    const request = await servingRequest(NODE, ADDRESS);
    let left = count;
    const sendSome = async () => {
      while (left > 0) {
        left -= 1;
        await this.#send(this.#clients.stranger, `stranger-${left}`, request);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
  }

  /**
   * Sends the costly requests in turn, one at each call, as the node itself: those of others are left before they are
   * read. They stay pending.
   */
  async sendCostly(): Promise<void> {
    const { title, pem } = this.#costly[this.#sentCostly % this.#costly.length] ?? NONE;
    this.#sentCostly += 1;
    try {
      await this.#send(this.#clients.kubelet, `costly-${this.#sentCostly}`, Buffer.from(pem));
    } catch (error) {
      if (!isKubeError(error, 'rejected')) throw error;
      this.refused.add(title);
    }
  }

  async #send(client: KubeClient, name: string, pem: Buffer): Promise<void> {
    const body = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: { ...serving, request: pem.toString('base64') },
    };
    await client.create(certificateSigningRequests, {}, body, this.#limits);
  }

  #follow(paths: ReturnType<typeof hostPaths>): void {
    const signal = AbortSignal.any([this.#limits.signal, this.#ended.signal]);
    const failed = (error: unknown) => {
      for (const { reject } of this.#approved.values()) reject(error);
    };
    const host = { cluster: { machineNetwork: [`${ADDRESS}/24`] }, paths, hostname: () => NODE };
    approveServingRequests(this.#clients.approver, {
      signal,
      nodeName: NODE,
      // As on a host; only that this machine has no such address.
      host: async () => ({ ...(await viewOfThisHost(host, signal)), nodeIps: [ADDRESS] }),
      report: ({ request, judgement }) => {
        const approved = this.#approved.get(request);
        if (judgement.verdict === 'approve') approved?.resolve(performance.now());
        else approved?.reject(new Error(`not approved: ${JSON.stringify(judgement)}`));
      },
    }).catch(failed);
    this.#observe(signal).catch(failed);
  }

  async #observe(signal: AbortSignal): Promise<void> {
    const { observer } = this.#clients;
    const snapshots = watchObjects(observer, certificateSigningRequests, {}, signal);
    for await (const { changed } of snapshots) {
      if (changed !== undefined && !this.#seen.has(changed)) {
        this.#seen.set(changed, performance.now());
      }
    }
  }

  async #registerNode(): Promise<void> {
    const { observer } = this.#clients;
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } };
    const node = await observer.create(resources.nodes, {}, body, this.#limits);
    const addresses = [{ type: 'InternalIP', address: ADDRESS }];
    const place = { name: NODE, subresource: 'status' };
    await observer.replace(
      resources.nodes,
      place,
      { ...node, status: { addresses } },
      this.#limits,
    );
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
}
