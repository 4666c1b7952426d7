import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifMissing, removeFile, syncDirectory, writeFileAtomic } from '../../lib/host/files.ts';
import { kubeletPaths } from '../../lib/render/kubernetes/kubelet.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from '../steps/host-context.ts';
import { isOfNode, issueIdentity } from '../steps/kubelet-identity.ts';

const CURRENT = basename(kubeletPaths.clientPair);
const DATED = /^\.?kubelet-client-\d/;

/**
 * Signs the client certificate of this host's kubelet with its CA's key, without an API server: the
 * kubelet needs no bootstrap token, and nobody else can request this node's name. As the kubelet
 * does, into a dated file behind a link: it cannot replace a plain file when it rotates.
 */
export const kubeletIdentity: StepBody<HostContext> = {
  name: 'kubelet-identity',
  leaves: `the node's client certificate and key, in a dated file behind ${CURRENT}`,
  input: ({ cluster, hostname }) => [cluster.clusterId, hostname()],
  async holds(context) {
    // The link's target is the kubelet's own file once it has rotated.
    const pem = await readFile(join(context.paths.kubeletPki, CURRENT), 'utf8').catch(ifMissing);
    return pem !== undefined && isOfNode(pem, context);
  },
  async run(context) {
    const folder = context.paths.kubeletPki;
    const { name, contents } = await issueIdentity(context);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeEarlier(folder);
    await writeFileAtomic(join(folder, name), contents, 0o600);
    await linkAtomically(folder, CURRENT, name);
    return done(name);
  },
};

/**
 * A kill before the link was made leaves a valid key of the node, complete or under the name of an
 * unfinished write, which nobody would ever delete.
 */
async function removeEarlier(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (DATED.test(name)) await removeFile(join(folder, name));
  }
}

async function linkAtomically(folder: string, link: string, target: string): Promise<void> {
  const beside = join(folder, `.${link}.new`);
  await rm(beside, { force: true });
  await symlink(target, beside);
  await rename(beside, join(folder, link));
  await syncDirectory(folder);
}
