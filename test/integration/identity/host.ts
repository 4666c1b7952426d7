import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { signedRights } from '../../../agents/steps/host-context.ts';
import { issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { etcdBinaries } from '../../../lab/servers/binaries.ts';
import { relocatedFile } from '../../../lab/servers/relocate.ts';
import { waitForApi } from '../../../lib/clients/kube/api-ready.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { writeFileAtomic } from '../../../lib/host/files.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { liveHost } from '../../../lib/render/hosts.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../lib/render/render-input.ts';
import type { Rendered, RenderInput } from '../../../lib/render/renderer.ts';
import { placeFiles } from '../../../lib/render/store.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { SYSTEMCTL } from '../../unit/agents/host/kubelet-unit.ts';
import { FakePrograms } from '../../unit/agents/host/programs.ts';
import { startStandInKubelet } from '../backup/stand-in-kubelet.ts';
import { ask } from '../control-plane/request.ts';
import { eventually } from '../control-plane/world.ts';

const { signal } = new AbortController();
export const settings = { retryMs: 200, backupMinFreeMiB: 1 };

/**
 * A host in a folder with a rendered control plane, which runs as a kubelet would run it. Its systemd
 * and its network are programs of the test.
 */
export async function startHost(t: Test, rendered: Rendered, input: RenderInput) {
  const folder = await mkdtemp(join(tmpdir(), 'identity-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const root = join(folder, 'host');
  const kubelet = await startStandInKubelet(root, signal);
  t.teardown(() => kubelet.stop());
  const at = (port: number) => `https://127.0.0.1:${kubelet.port(port)}`;
  const paths = hostPaths(root, { api: at(6443), etcd: at(2379) });
  const files = rendered.files.map((file) => relocatedFile(file, kubelet));
  await placeFiles(paths, liveHost, { ...rendered, files });
  await mkdir(paths.config, { recursive: true });
  await writeFile(join(paths.config, 'cluster.json'), JSON.stringify(cluster));
  await saveRenderInput(paths, input);
  await writeFile(join(paths.config, 'settings.json'), JSON.stringify(settings));
  await mkdir(paths.binaries, { recursive: true });
  await symlink((await etcdBinaries(signal)).etcdutl, join(paths.binaries, 'etcdutl'));
  const programs = new FakePrograms(t, join(folder, 'bin'), root, 'real');
  programs.give('systemctl', SYSTEMCTL);
  programs.give('hostnamectl', '[ "$1" = set-hostname ] && echo "$2" > "$ROOT/etc/hostname"');
  for (const { file, manifest } of rendered.staticPods) {
    // At once: the stand-in reads it while it is written otherwise.
    await writeFileAtomic(join(paths.staticPods, file), manifest, 0o600);
  }
  const textAt = (path: string) =>
    rendered.files.find((file) => file.path === path)?.contents ?? '';
  const ca = textAt(authorityPaths('serving').certificate);
  const { certificate, key } = authorityPaths('admin');
  const admin = await issueLeaf(
    { certificate: textAt(certificate), key: textAt(key) },
    { subject: { commonName: 'tester', organizations: ['system:masters'] }, usage: 'client' },
  );
  const api = (method: 'GET' | 'POST', path: string, body?: object) =>
    ask({ port: kubelet.port(6443), ca, ...admin, method, path, ...(body ? { body } : {}) });
  const { withAdministrator } = signedRights({ paths, cluster });
  const withApi = <T>(use: (client: KubeClient) => Promise<T>) =>
    withAdministrator({ remainingMs: () => 120_000 }, use);
  await withApi((client) => waitForApi(client, { signal, deadlineMs: 120_000, report: () => {} }));
  return {
    ...{ folder, paths, kubelet, programs, ca, withApi },
    /** What `ip` says that the host has. */
    has(...addresses: string[]) {
      const addr_info = addresses.map((local) => ({ local, prefixlen: 24, scope: 'global' }));
      const text = JSON.stringify([{ ifname: 'eth0', addr_info }]);
      programs.give('ip', `echo '${text}'`);
    },
    get: async (path: string) => JSON.parse((await api('GET', path)).body),
    code: async (path: string) => (await api('GET', path)).code,
    create: (path: string, body: object) =>
      eventually(`${path} created`, async () => {
        const given = await api('POST', path, body).catch(() => undefined);
        return given?.code === 201 ? JSON.parse(given.body) : undefined;
      }),
  };
}

export type IdentityHost = Awaited<ReturnType<typeof startHost>>;
