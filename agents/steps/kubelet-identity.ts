import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { isMissing, writeFileAtomic } from '../../lib/host/files.ts';
import { inspectCertificate } from '../../lib/pki/certificate.ts';
import { issueLeaf } from '../../lib/pki/leaf.ts';
import { bootstrapAccess } from '../../lib/render/access.ts';
import type { HostContext } from './host-context.ts';

/** Folder of the single file `kubelet-client-<date>.pem`, named as the kubelet does. */
export const identityFolder = ({ paths }: HostContext) => join(paths.assets, 'kubelet-identity');

/** Certificate and key of a node in one file. */
export interface IdentityFile {
  /** `kubelet-client-<date>.pem` */
  readonly name: string;
  readonly contents: string;
}

/**
 * Issues the client certificate for the installed host's kubelet here, where its CA key is
 * available. The kubelet starts with it, so there is never a pending first request, and nobody
 * else can request this node's name.
 */
export const kubeletIdentity: StepBody<HostContext> = {
  name: 'kubelet-identity',
  leaves: "the node's client certificate and key, for the installed host",
  touches: ['disk', 'clock'],
  input: ({ cluster, hostname }) => [cluster.clusterId, hostname()],
  async holds(context) {
    const pem = await readIdentity(context);
    return pem !== undefined && isOfNode(pem.contents, context);
  },
  async run(context) {
    const { name, contents } = await issueIdentity(context);
    await rm(identityFolder(context), { recursive: true, force: true });
    await writeFileAtomic(join(identityFolder(context), name), contents, 0o600);
    return done(nodeUser(context));
  },
};

/** Signs a new identity of this node; the name of the file is the kubelet's. */
export async function issueIdentity(context: HostContext): Promise<IdentityFile> {
  const { paths, cluster } = context;
  const files = bootstrapAccess(cluster.controlPlane).kubeletClientAuthority;
  const authority = {
    certificate: await readFile(paths.at(files.certificate), 'utf8'),
    key: await readFile(paths.at(files.key), 'utf8'),
  };
  const subject = { commonName: nodeUser(context), organizations: ['system:nodes'] };
  const now = new Date();
  // Not from an earlier time: the kubelet counts from the beginning when it asks for the next one.
  const time = { now, validFrom: now };
  const { certificate, key } = await issueLeaf(authority, { subject, usage: 'client' }, time);
  return identityFile(certificate, key);
}

/** Certificate and key (PEM) under the name that the kubelet would give them now. */
export const identityFile = (certificate: string, key: string): IdentityFile => ({
  name: `kubelet-client-${fileDate(new Date())}.pem`,
  contents: `${certificate}${key}`,
});

/** The issued identity, with its file name in the kubelet's folder. */
export async function readIdentity(context: HostContext): Promise<IdentityFile | undefined> {
  try {
    const [name] = await readdir(identityFolder(context));
    if (name === undefined) return undefined;
    return { name, contents: await readFile(join(identityFolder(context), name), 'utf8') };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether a certificate is that of this node, by its subject. */
export const isOfNode = (pem: string, context: Pick<HostContext, 'hostname'>): boolean =>
  inspectCertificate(pem).subject.commonName === nodeUser(context);

export const nodeUser = ({ hostname }: Pick<HostContext, 'hostname'>) =>
  `system:node:${hostname()}`;

/** `2026-01-31-23-59-59`, UTC: the format in the kubelet's file names (client-go, util/certificate). */
const fileDate = (date: Date) => date.toISOString().slice(0, 19).replace(/[T:]/g, '-');
