import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { verifyPayload } from '../../lib/payload/verify.ts';
import { searchBelow } from '../host/search.ts';
import type { DiskCheck } from './check.ts';

/** Below /var, where install-to-disk writes the executable and the payload; the Ignition config is on the boot partition. */
const AGENTS = 'lib/sno-agents';
const KUBERNETES = /^(kube|etcd|bootkube|sno-|crictl|cni|flannel|coredns)/;
/** What the lab adds to Debian's SELinux policy: an ostree deployment has it in /etc and, as it was shipped, in /usr/etc. */
const POLICY_MODULE = 'etc/selinux/default/active/modules/400/sno-lab';
/** Part of the OS image itself, which includes containerd as CoreOS includes CRI-O. */
const OF_THE_SYSTEM = new Set([
  ...['etc/cni', 'opt/cni', 'usr/lib/cni', 'usr/etc/cni'],
  ...[POLICY_MODULE, `usr/${POLICY_MODULE}`],
]);
/** Before the path that a file of ostree's deployment has on the host. */
const DEPLOYMENT = /^ostree\/deploy\/[^/]+\/deploy\/[^/]+\//;

/** The installed operating system contains nothing of a cluster except what was put beside it. */
export const bareSystem: DiskCheck = {
  name: 'the written system has no Kubernetes binary, image, agent or key of its own',
  run: async ({ root, var: varFolder }, signal) => {
    const found = [
      ...(await namesBelow(root, relative(root, join(varFolder, AGENTS)), signal)),
      ...(await imagesBelow(varFolder)),
      ...(await keysBelow(root, signal)),
    ];
    if (found.length > 0)
      throw new Failure('fatal', 'the installed system is not bare', { found: found.join(', ') });
    await verifyPayload(await readPayload(join(varFolder, AGENTS, 'payload')), signal);
  },
};

async function namesBelow(root: string, agents: string, signal: AbortSignal): Promise<string[]> {
  const args = ['.', '-xdev', '-path', `./${agents}`, '-prune', '-o', '-printf', '%P\\n'];
  const { stdout } = await execa('find', args, {
    cwd: root,
    cancelSignal: signal,
    timeout: 60_000,
  });
  return stdout
    .split('\n')
    .filter((path) => KUBERNETES.test(path.slice(path.lastIndexOf('/') + 1)))
    .filter((path) => !OF_THE_SYSTEM.has(path.replace(DEPLOYMENT, '')));
}

async function imagesBelow(varFolder: string): Promise<string[]> {
  const content = 'lib/containerd/io.containerd.content.v1.content/blobs/sha256';
  const names = await readdir(join(varFolder, content)).catch(() => []);
  return names.map((name) => join(content, name));
}

/** Text files with a private key: programs contain the marker without a key. */
async function keysBelow(root: string, signal: AbortSignal): Promise<string[]> {
  const args = ['-rlI', '-e', '-----BEGIN [A-Z ]*PRIVATE KEY-----', '--exclude-dir=payload', '.'];
  return searchBelow(root, args, signal);
}
