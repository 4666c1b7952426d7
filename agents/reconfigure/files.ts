import { z } from 'zod';
import { backupToPath } from '../../lib/change/backup/push/read-backup-to.ts';
import { unreadPath } from '../../lib/change/site/places.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { writeCluster } from '../../lib/config/cluster/read-cluster.ts';
import { loginKeyFiles } from '../../lib/config/site/login-keys.ts';
import { completeNoProxy } from '../../lib/config/site/proxy.ts';
import { networkAfter } from '../../lib/config/site-config/name-servers.ts';
import { type SiteConfig, siteDomain } from '../../lib/config/site-config/site-config.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { run } from '../../lib/host/command.ts';
import { type NewFile, readTextIfPresent } from '../../lib/host/files.ts';
import { type HostPaths, hostPaths } from '../../lib/host/paths.ts';
import { stateFile } from '../../lib/host/state-file.ts';
import { reloadUnits, restartUnit, startUnit } from '../../lib/host/systemd.ts';
import {
  siteCertificate,
  siteCertificateFiles,
} from '../../lib/render/kubernetes/site-certificate.ts';
import {
  machineConfig,
  networkConfigPath,
} from '../../lib/render/machine-config/machine-config.ts';
import { saveRenderInput } from '../../lib/render/render-input.ts';
import { removeKeptFile, writeKeptFiles } from '../../lib/secrets/seal/files.ts';
import { restartRuntime } from '../steps/restart-runtime.ts';
import { presentInput, type ReconfigureContext } from './context.ts';
import { hasOwnHostKeys, renewHostKeys } from './host-keys.ts';
import { requireLogin } from './login.ts';
import type { SiteStep } from './or-back.ts';

const BACKUP_TO_PATH = backupToPath(hostPaths());
const PULL_SECRET = '/var/lib/kubelet/config.json';
const PROGRAM_MS = 120_000;

/** Files of the site, and earlier files that the site does not have. Paths on the host. */
export interface SiteFiles {
  readonly wanted: readonly NewFile[];
  readonly obsolete: readonly string[];
}

/** The cluster as the site wants it, without what the identity changes. */
export function clusterAtSite(cluster: Cluster, site: SiteConfig): Cluster {
  const { proxy, additionalTrustBundle, imageMirrors, additionalNtpSources, networkConfig } = site;
  const { sshKeys } = site;
  // A certificate is for one site: the next one brings its own, or has none.
  const { apiCertificateName: _, ...kept } = cluster;
  return {
    ...kept,
    ...(site.certificates.api === undefined
      ? {}
      : { apiCertificateName: `api.${siteDomain(site)}` }),
    ...(additionalTrustBundle === undefined ? {} : { additionalTrustBundle }),
    ...(imageMirrors === undefined ? {} : { imageMirrors: [...imageMirrors] }),
    ...(additionalNtpSources.length === 0
      ? {}
      : { additionalNtpSources: [...additionalNtpSources] }),
    ...(networkConfig === undefined
      ? {}
      : { networkConfig: networkAfter(cluster.networkConfig, networkConfig) }),
    ...(sshKeys === undefined ? {} : { sshKeys: [...sshKeys] }),
    ...(proxy === undefined
      ? {}
      : {
          proxy: {
            ...(proxy.httpProxy === undefined ? {} : { httpProxy: proxy.httpProxy }),
            ...(proxy.httpsProxy === undefined ? {} : { httpsProxy: proxy.httpsProxy }),
            noProxy: noProxyAtSite(cluster, site, proxy.noProxy),
          },
        }),
  };
}

/** The internal address is in the network of the installation; the names are those of this host. */
function noProxyAtSite(cluster: Cluster, site: SiteConfig, given: string): string[] {
  const own = `.${siteDomain(site)}`;
  return completeNoProxy(given === '*' ? given : `${given},${own}`, {
    ...cluster,
    name: site.clusterName,
    baseDomain: site.baseDomain,
    machineNetwork: [...cluster.machineNetwork, ...site.machineNetworks],
  });
}

/** The site's trust, mirrors, time servers, proxy, pull secret, SSH keys, store of backups and API certificate as files. */
export async function siteFiles(context: ReconfigureContext): Promise<SiteFiles> {
  const { cluster } = await presentInput(context);
  const old = filesOf(cluster);
  const wanted = filesOf(clusterAtSite(cluster, context.site));
  const { pullSecret, certificates, sshKeys } = context.site;
  if (pullSecret !== undefined)
    wanted.push({ path: PULL_SECRET, contents: pullSecret, mode: 0o600 });
  const { backupTo } = context;
  if (backupTo !== undefined) {
    wanted.push({ path: BACKUP_TO_PATH, contents: backupTo, mode: 0o600 });
  }
  if (sshKeys !== undefined) wanted.push(...loginKeyFiles(sshKeys));
  if (certificates.api !== undefined) wanted.push(...siteCertificateFiles(certificates.api));
  const paths = new Set(wanted.map(({ path }) => path));
  const earlier = [...old.map(({ path }) => path), ...Object.values(siteCertificate)];
  return { wanted, obsolete: earlier.filter((path) => !paths.has(path)) };
}

/** The network is a step of its own. */
function filesOf(cluster: Cluster): NewFile[] {
  const { files, dropins } = machineConfig(cluster, 'installed');
  return [
    ...files.filter(({ path }) => path !== networkConfigPath),
    ...dropins.map(({ unit, name, contents }) => ({
      path: `/etc/systemd/system/${unit}.d/${name}`,
      contents,
      mode: 0o644,
    })),
  ];
}

/** Trust, mirrors, time servers, proxy, pull secret, SSH keys and certificate of the site. The API server gets that with `credentials`. */
export const placeSiteFiles: SiteStep = {
  name: 'files',
  leaves:
    "the site's trust, mirrors, time servers, proxy, pull secret, SSH keys and store of backups, in use; its certificate of the API; other keys of the host's sshd",
  touches: ['disk', 'systemd'],
  neededUntil: 'confirm',
  async holds(context) {
    const { wanted, obsolete } = await differing(context);
    if (!(await hasOwnHostKeys(context))) return false;
    return wanted.length === 0 && obsolete.length === 0 && (await unread(context)) === undefined;
  },
  async run(context, { signal }) {
    const { paths, site } = context;
    const { wanted, obsolete } = await differing(context);
    const differ = [...wanted.map(({ path }) => path), ...obsolete];
    const changed = [...new Set([...((await unread(context)) ?? []), ...differ])];
    await unreadFile(paths).write({ id: context.request.id, paths: changed });
    await writeKeptFiles(paths, wanted);
    for (const path of obsolete) await removeKeptFile(paths, path);
    const has = (part: string) => changed.some((path) => path.includes(part));
    await reloadUnits(signal);
    if (has('/ca-trust/')) await run('update-ca-trust', [], { signal, deadlineMs: PROGRAM_MS });
    if (has('/chrony.conf')) await restartUnit('chronyd.service', signal);
    if (has('proxy')) await restartRuntime(paths, signal);
    if (has(BACKUP_TO_PATH)) {
      // It has not been active on a host without the file. Without it, the next backup is stored, and the next boot starts it.
      await startUnit('sno-backup-push.timer', signal).catch(() => signal.throwIfAborted());
    }
    await requireLogin(site, signal);
    await renewHostKeys(context, signal);
    // Last: what is obsolete follows from it.
    const input = await presentInput(context);
    const cluster = clusterAtSite(input.cluster, site);
    await writeCluster(paths, cluster);
    await saveRenderInput(paths, { ...input, cluster });
    await unreadFile(paths).remove();
    return done(changed.join(', ') || 'nothing differs');
  },
};

const unreadSchema = z.object({ id: z.string(), paths: z.array(z.string()) });
const unreadFile = (paths: HostPaths) =>
  stateFile(unreadPath(paths), unreadSchema, { damaged: 'none-if-read' });

/** What an agent that was killed has written, or was about to, for this request; undefined: all of it is in use. */
async function unread({ paths, request }: ReconfigureContext): Promise<string[] | undefined> {
  const note = await unreadFile(paths).read();
  return note?.id === request.id ? note.paths : undefined;
}

async function differing(context: ReconfigureContext): Promise<SiteFiles> {
  const { wanted, obsolete } = await siteFiles(context);
  const text = (path: string) => readTextIfPresent(context.paths.at(path));
  const differ: NewFile[] = [];
  for (const file of wanted) if ((await text(file.path)) !== file.contents) differ.push(file);
  const present: string[] = [];
  for (const path of obsolete) if ((await text(path)) !== undefined) present.push(path);
  return { wanted: differ, obsolete: present };
}
