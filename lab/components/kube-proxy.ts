import { join } from 'node:path';
import { run } from '../../lib/host/command.ts';
import { writeProgramImage } from '../../lib/payload/image/write.ts';
import type { Component } from './component.ts';
import { debianBase } from './debian-base.ts';
import { kubernetesOf } from './kubernetes.ts';
import { KUBERNETES_VERSIONS, type KubernetesMinor } from './versions.ts';

export const KUBE_PROXY_IMAGE = 'kube-proxy.tar';

/**
 * As in the image of Kubernetes (distroless has Debian's netbase). Without them nft lists a
 * protocol as a number: a kube-proxy that starts again reads its own elements, takes them for
 * others, and deletes them, which leaves every Service without an address until the next start.
 */
const nameFiles = ['/etc/protocols', '/etc/services'];

/** An image archive: kube-proxy, with Debian's nft and the libraries that it needs. */
export const kubeProxyOf = (minor: KubernetesMinor): Component => ({
  name: `kube-proxy-${minor}`,
  version: KUBERNETES_VERSIONS[minor],
  recipe: [import.meta.filename],
  needs: [debianBase, kubernetesOf(minor)],
  build: async (target, { signal, folderOf }) => {
    const program = join(folderOf(kubernetesOf(minor)), 'kube-proxy');
    const tree = join(folderOf(debianBase), 'tree');
    const libraries = await librariesOf('/usr/sbin/nft', tree, signal);
    await writeProgramImage(
      join(target, KUBE_PROXY_IMAGE),
      {
        reference: `registry.k8s.io/kube-proxy:v${KUBERNETES_VERSIONS[minor]}`,
        architecture: 'amd64',
        files: [
          { path: 'usr/local/bin/kube-proxy', source: program },
          { path: 'usr/local/bin/nft', source: join(tree, 'usr/sbin/nft') },
          ...[...libraries, ...nameFiles].map((path) => ({
            path: path.slice(1),
            source: join(tree, path),
          })),
        ],
        entrypoint: ['/usr/local/bin/kube-proxy'],
      },
      signal,
    );
  },
});

/** The paths by which a program of a Debian tree loads its libraries, its loader among them. */
async function librariesOf(program: string, tree: string, signal: AbortSignal): Promise<string[]> {
  const loader = '/lib64/ld-linux-x86-64.so.2';
  const list = [tree, loader, '--list', program];
  const output = await run('chroot', list, { signal, deadlineMs: 20_000 });
  const found = [...output.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [...new Set([loader, ...found])];
}
