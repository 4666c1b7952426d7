import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlaneOptions, startControlPlane } from '../../../lab/servers/control-plane.ts';
import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { failureTable } from '../../../lib/clients/kube/apply-table.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import {
  type CertificateSigningRequest,
  objectSchema,
  resources,
} from '../../../lib/clients/kube/resources.ts';
import { fingerprintOf, type HostView } from '../../../lib/cluster/csr/views.ts';
import { users } from '../../../lib/render/kubernetes/leaves.ts';
import { manifests as renderManifests } from '../../../lib/render/kubernetes/manifests.ts';
import { input } from '../../unit/render/rendered-host.ts';
import { type Answer, ask } from '../control-plane/request.ts';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CREDENTIAL_HEADER = 'Impersonate-Extra-authentication.kubernetes.io%2fcredential-id';
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' };

/** Who sends a request. Impersonation by an administrator forges everything that it may forge. */
export type Sender =
  | { readonly kind: 'kubelet' | 'old-kubelet' | 'other-node' | 'admin' | 'token' }
  | {
      readonly kind: 'impersonated';
      readonly user: string;
      readonly groups: readonly string[];
      readonly credential?: 'right' | 'other';
    };

export interface Submission {
  readonly pem: string;
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly expirationSeconds?: number;
}

export type CsrWorld = Awaited<ReturnType<typeof startCsrWorld>>;

/** A real API server with the rendered rights, and everybody who may send requests to it. */
export async function startCsrWorld(
  folder: string,
  { nodeName, address }: { readonly nodeName: string; readonly address: string },
  options: ControlPlaneOptions = {},
) {
  const { signal } = new AbortController();
  const limits = { signal, deadlineMs: 30_000 };
  const plane = await startControlPlane(folder, signal, {
    ...options,
    args: [...(options.args ?? []), '--enable-bootstrap-token-auth'],
  });
  const asNode = (name: string) =>
    plane.access({ name: `system:node:${name}`, groups: ['system:nodes'] });
  const [kubelet, oldKubelet, otherNode, administrator, approver] = await Promise.all([
    asNode(nodeName),
    asNode(nodeName),
    asNode('worker-0'),
    plane.access({ name: 'test-admin', groups: ['system:masters'] }),
    plane.access({ name: users.csrApprover, groups: [users.csrApprover] }),
  ]);
  const admin = new KubeClient(administrator);
  const clientCertificate = fingerprintOf(kubelet.certificate);
  const host: HostView = {
    nodeName,
    staticHostName: nodeName,
    nodeIps: [address],
    clientCertificate,
  };

  const rendered = renderManifests({ ...input, host: { ...input.host, hostname: nodeName } });
  const manifests = rendered.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  const rows = await applyManifests(
    admin,
    { manifests, faults: [] },
    { ...limits, concurrency: 4, report: () => {} },
  );
  if (failureTable(rows).length > 0) throw new Error(failureTable(rows).join('\n'));
  await admin.create(resources.secrets, { namespace: 'kube-system' }, tokenSecret(), limits);
  // The rights to send requests are another matter: here, everybody may.
  await admin.create(clusterRoleBindings, {}, everybodyMaySend, limits);

  const identities = {
    kubelet,
    'old-kubelet': oldKubelet,
    'other-node': otherNode,
    admin: administrator,
  };
  const callerOf = (sender: Sender) => {
    if (sender.kind === 'token') return { token: `${TOKEN.id}.${TOKEN.secret}` };
    if (sender.kind !== 'impersonated') return identities[sender.kind];
    const { user, groups, credential } = sender;
    const sha256 = credential === 'right' ? clientCertificate : 'cd'.repeat(32);
    return {
      ...administrator,
      headers: {
        'Impersonate-User': user,
        ...(groups.length === 0 ? {} : { 'Impersonate-Group': [...groups] }),
        ...(credential === undefined ? {} : { [CREDENTIAL_HEADER]: `X509SHA256=${sha256}` }),
      },
    };
  };
  const api = (request: Omit<Parameters<typeof ask>[0], 'port' | 'ca'>): Promise<Answer> =>
    ask({ port: Number(plane.server.port), ca: plane.authority.certificate, ...request });

  return {
    plane,
    admin,
    host,
    approver,
    limits,
    /** Sends a request; returns the status of the answer. */
    async submit(by: Sender, name: string, { pem, ...spec }: Submission): Promise<number> {
      const request = Buffer.from(pem).toString('base64');
      const body = { metadata: { name }, spec: { ...spec, request } };
      const { code, body: answer } = await api({
        ...callerOf(by),
        method: 'POST',
        path: CSRS,
        body,
      });
      if (code !== 201 && code !== 403 && code !== 422 && code !== 400) throw new Error(answer);
      return code;
    },
    read: (name: string) => admin.get(resources.certificateSigningRequests, { name }, limits),
    async all(): Promise<readonly CertificateSigningRequest[]> {
      return (await admin.list(resources.certificateSigningRequests, {}, limits)).items;
    },
    /** Denies a request as an administrator. */
    async deny(name: string): Promise<void> {
      const place = { name };
      const request = await admin.get(resources.certificateSigningRequests, place, limits);
      const condition = { type: 'Denied', status: 'True', reason: 'Test', message: 'test' };
      const body = { ...request, status: { conditions: [condition] } };
      await admin.replace(
        resources.certificateSigningRequests,
        { name, subresource: 'approval' },
        body,
        limits,
      );
    },
    /** Registers the node of this host with these addresses. */
    register: (...addresses: string[]) => registerNode(admin, nodeName, addresses),
    registerOther: (name: string, ...addresses: string[]) => registerNode(admin, name, addresses),
    async stop(): Promise<void> {
      admin[Symbol.dispose]();
      await plane.stop();
    },
  };
}

/** Returns the UID of the Node. */
async function registerNode(
  admin: KubeClient,
  name: string,
  addresses: readonly string[],
): Promise<string> {
  const limits = { signal: new AbortController().signal, deadlineMs: 30_000 };
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  const node =
    (await admin.find(resources.nodes, { name }, limits)) ??
    (await admin.create(resources.nodes, {}, body, limits));
  const internal = addresses.map((each) => ({ type: 'InternalIP', address: each }));
  const status = { ...node.status, addresses: internal };
  const place = { name, subresource: 'status' };
  await admin.replace(resources.nodes, place, { ...node, status }, limits);
  return node.metadata.uid ?? '';
}

export const isApproved = ({ status }: CertificateSigningRequest): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === 'Approved');

/** Waits until `look` returns a result; errors meanwhile are those of an API server that restarts. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endsAt = performance.now() + 90_000;
  let last: unknown;
  while (performance.now() < endsAt) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await sleep(50);
  }
  throw new Error(`${what} did not happen`, { cause: last });
}

const rbac = 'rbac.authorization.k8s.io';
const clusterRoleBindings = {
  apiVersion: `${rbac}/v1`,
  plural: 'clusterrolebindings',
  schema: objectSchema,
};
const everybodyMaySend = {
  metadata: { name: 'everybody-may-send' },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
  subjects: [{ apiGroup: rbac, kind: 'Group', name: 'system:authenticated' }],
};

const tokenSecret = () => ({
  metadata: { name: `bootstrap-token-${TOKEN.id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData: {
    'token-id': TOKEN.id,
    'token-secret': TOKEN.secret,
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:sno-workers',
  },
});
