import { z } from 'zod';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { kubeconfigPath, siteFolder } from '../../lib/change/site/places.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { resourcePath, resources } from '../../lib/clients/kube/resources.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { readCluster } from '../../lib/config/cluster/read-cluster.ts';
import { movedHost } from '../../lib/config/site/moved-host.ts';
import { type SiteConfig, siteDomain } from '../../lib/config/site-config/site-config.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { issueAdministrator } from '../steps/certificates/administrator.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';
import { presentInput, type ReconfigureContext } from './context.ts';
import { applyOrHoldBack } from './hold-back.ts';
import type { SiteStep } from './or-back.ts';

const ADMINISTRATOR_DAYS = 365;
const MERGE = 'application/merge-patch+json';

/** What the site changes in the cluster: labels of the Node, hosts of Ingresses, the manifests of the volume. */
export const siteObjects: SiteStep = {
  name: 'objects',
  leaves:
    "the site's labels, Ingress hosts and manifests; an administrator's kubeconfig, if one was requested",
  touches: ['disk', 'api', 'clock'],
  neededUntil: 'confirm',
  // Applying again changes nothing that is as it should be.
  holds: async () => true,
  async run(context, progress) {
    const { request, site, manifests } = context;
    const { host } = await presentInput(context);
    await context.withAdministrator(progress, async (client) => {
      const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
      await labelNode(client, host.hostname, site.nodeLabels, limits);
      const from = `${request.from.clusterName}.${request.from.baseDomain}`;
      await moveIngresses(client, from, siteDomain(site), progress, limits);
      await applyOrHoldBack(context, client, progress, limits);
    });
    await certifyAdministrator(context, progress);
    return done(`${manifests.length} manifests`);
  },
};

/** Adds labels to the Node; its others stay. */
export async function labelNode(
  client: KubeClient,
  name: string,
  labels: SiteConfig['nodeLabels'],
  limits: Limits,
): Promise<void> {
  if (Object.keys(labels).length === 0) return;
  const path = resourcePath(resources.nodes, { name });
  const body = { metadata: { labels } };
  await client.json({ method: 'PATCH', path, body, contentType: MERGE }, limits);
}

const ingressSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  spec: z.looseObject({
    rules: z.array(z.looseObject({ host: z.string().optional() })).optional(),
    tls: z.array(z.looseObject({ hosts: z.array(z.string()).optional() })).optional(),
  }),
});
type Ingress = z.infer<typeof ingressSchema>;
const listSchema = z.object({ items: z.array(ingressSchema) });
const GROUP = '/apis/networking.k8s.io/v1';

/** The spec of an Ingress with the hosts of another domain; undefined if it has no host in the old domain. */
export function movedSpec(
  { spec }: Ingress,
  from: string,
  to: string,
): Pick<Ingress['spec'], 'rules' | 'tls'> | undefined {
  const moved = (host: string) => movedHost(host, from, to);
  const rules = spec.rules?.map((rule) =>
    rule.host === undefined ? rule : { ...rule, host: moved(rule.host) },
  );
  const tls = spec.tls?.map((each) =>
    each.hosts === undefined ? each : { ...each, hosts: each.hosts.map(moved) },
  );
  const isSame = JSON.stringify([rules, tls]) === JSON.stringify([spec.rules, spec.tls]);
  if (isSame) return undefined;
  return { ...(rules === undefined ? {} : { rules }), ...(tls === undefined ? {} : { tls }) };
}

/** Gives the hosts of Ingresses in one domain the same names in another. */
export async function moveIngresses(
  client: KubeClient,
  from: string,
  to: string,
  progress: Pick<Progress, 'say'>,
  limits: Limits,
): Promise<void> {
  if (from === to) return;
  const call = { method: 'GET', path: `${GROUP}/ingresses` } as const;
  for (const ingress of (await client.answer(listSchema, call, limits)).items) {
    const spec = movedSpec(ingress, from, to);
    if (spec === undefined) continue;
    const { namespace, name } = ingress.metadata;
    const path = `${GROUP}/namespaces/${namespace}/ingresses/${name}`;
    await client.json({ method: 'PATCH', path, body: { spec }, contentType: MERGE }, limits);
    progress.say(`Ingress ${namespace}/${name}: its hosts are in ${to} now`);
  }
}

/** The key stays with the person who made the request. */
async function certifyAdministrator(
  { paths, credentials }: ReconfigureContext,
  progress: Progress,
): Promise<void> {
  if (credentials.kind !== 'request') return;
  const cluster = await readCluster(paths);
  const path = `${siteFolder(paths)}/${VOLUME_FILES.adminRequest}`;
  const issued = await issueAdministrator(paths, cluster, {
    path,
    days: ADMINISTRATOR_DAYS,
    now: new Date(),
  });
  await writeFileAtomic(kubeconfigPath(paths), issued.kubeconfig, 0o600);
  progress.say(`${issued.record}, for ${clusterDomain(cluster)}: in ${kubeconfigPath(paths)}`);
}
