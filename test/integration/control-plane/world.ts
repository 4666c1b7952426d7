import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { issueLeaf } from '../../../lab/certificates/signed-now.ts';
import {
  type RenderedControlPlane,
  startRenderedControlPlane,
} from '../../../lab/servers/rendered-control-plane.ts';
import { applyManifests } from '../../../lib/clients/kube/apply.ts';
import { outcomeTable } from '../../../lib/clients/kube/apply-table.ts';
import { decodeManifests } from '../../../lib/clients/kube/manifest-decoding.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import type { LeafProfile } from '../../../lib/pki/leaf.ts';
import { type AuthorityName, authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { withAddOns } from '../../unit/render/addon-objects.ts';
import { rendered, textAt } from '../../unit/render/rendered-host.ts';
import { type Answer, ask, type Caller, type Request } from './request.ts';

export const NAMESPACE = 'shop';
export const PASSWORD = 'correct horse battery staple';
export const NODE = 'edge-0';
export const OTHER_NODE = 'worker-0';

/** The control plane of a rendered host, and clients with different identities. */
export interface World {
  readonly plane: RenderedControlPlane;
  /** Calls the API server and verifies its certificate. */
  api(request: Omit<Request, 'port' | 'ca'>): Promise<Answer>;
  readonly admin: Caller;
  readonly pod: Caller & { readonly token: string };
  readonly node: Caller;
  readonly otherNode: Caller;
  readonly approver: Caller;
  stop(): Promise<void>;
}

/** A leaf certificate issued by one of the rendered CAs. */
export function leafOf(
  name: AuthorityName,
  commonName: string,
  {
    organizations = [],
    usage = 'client',
    ...names
  }: Partial<LeafProfile['subject'] & LeafProfile> = {},
): Promise<KeyPair> {
  const { certificate, key } = authorityPaths(name);
  const subject = { commonName, organizations };
  return issueLeaf(
    { certificate: textAt(certificate), key: textAt(key) },
    { subject, usage, ...names },
  );
}

/** A rendered certificate with its key. */
export function renderedLeaf(path: string): KeyPair {
  return { certificate: textAt(`${path}.crt`), key: textAt(`${path}.key`) };
}

/** `files`: the rendered ones, some of them perhaps changed. */
export async function startWorld(root: string, files = rendered.files): Promise<World> {
  const signal = new AbortController().signal;
  const plane = await startRenderedControlPlane({ ...rendered, files }, root, signal);
  try {
    return await populate(plane, signal);
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

async function populate(plane: RenderedControlPlane, signal: AbortSignal): Promise<World> {
  const ca = textAt(authorityPaths('serving').certificate);
  const api: World['api'] = (request) => ask({ port: plane.port(6443), ca, ...request });
  const admin = renderedLeaf('/etc/sno-agents/bootstrap-admin');
  // The objects of add-ons name no key: those of another rendering serve as well.
  const manifests = withAddOns.manifests.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  const options = { signal, deadlineMs: 60_000, concurrency: 4, report: () => {} };
  const failures = outcomeTable(
    await applyManifests(plane.admin, { manifests, faults: [] }, options),
  );
  if (failures.length > 0) throw new Error(failures.join('\n'));
  const create = async (path: string, body: object) => {
    const { code, body: answer } = await api({ ...admin, method: 'POST', path, body });
    if (code >= 300) throw new Error(`${path}: ${code} ${answer}`);
    return answer;
  };
  const metadata = (name: string) => ({ metadata: { name } });
  await create('/api/v1/namespaces', metadata(NAMESPACE));
  const within = `/api/v1/namespaces/${NAMESPACE}`;
  await create(`${within}/secrets`, {
    ...metadata('database'),
    stringData: { password: PASSWORD },
  });
  await create(`${within}/serviceaccounts`, metadata('web'));
  const spec = { expirationSeconds: 3600 };
  const tokenRequest = await create(`${within}/serviceaccounts/web/token`, { spec });
  const { status } = z
    .object({ status: z.object({ token: z.string() }) })
    .parse(JSON.parse(tokenRequest));
  const nodeLeaf = (name: string) =>
    leafOf('kubelet-client', `system:node:${name}`, { organizations: ['system:nodes'] });
  return {
    plane,
    api,
    admin,
    pod: { token: status.token },
    node: await nodeLeaf(NODE),
    otherNode: await nodeLeaf(OTHER_NODE),
    approver: renderedLeaf('/etc/sno-agents/csr-approver'),
    stop: () => plane.stop(),
  };
}

/** Waits until `look` returns a result; the controllers take a moment. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endsAt = performance.now() + 90_000;
  while (performance.now() < endsAt) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(250);
  }
  throw new Error(`${what} did not happen`);
}
