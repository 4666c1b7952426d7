import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { ensureComponent } from '../../../lab/components/component.ts';
import {
  OPERATOR_CRDS,
  openshiftApi,
  PAYLOAD_CRDS,
} from '../../../lab/components/openshift/api.ts';
import { openshiftKubernetes } from '../../../lab/components/openshift/kubernetes.ts';
import { openshiftRoute, ROUTE_CRD } from '../../../lab/components/openshift/route.ts';
import { objectSchema } from '../../../lib/clients/kube/resources.ts';
import { clusterResources } from '../../../lib/cluster/openshift/operators.ts';
import { condition, INSTALLED } from '../../unit/relocation/site-openshift/installed-objects.ts';
import { cachedFolder } from './cached.ts';
import { type ForkApiServer, startForkApiServer } from './fork-api-server.ts';

/** Definitions of what has something of a site. */
export const SITE_DEFINITIONS =
  /_(apiservers-Default|ingresses|proxies|imagedigestmirrorsets|imagetagmirrorsets|imagecontentsourcepolicies|machineconfigs|openshiftapiservers)\.crd/;

/** What is not built of what the cluster needs; false if all is there. */
export async function notBuilt(): Promise<string | false> {
  const needed = [openshiftKubernetes, openshiftApi];
  const folders = await Promise.all(needed.map(cachedFolder));
  const missing = needed.filter((_, index) => folders[index] === undefined);
  return missing.length === 0 ? false : `not built: ${missing.map(({ name }) => name).join(', ')}`;
}

interface SiteCluster extends ForkApiServer {
  /** In the place of its operator: where new Routes get their hosts, and whether it is being rolled out. */
  openShiftApiServerSays(apps: string, progressing: string, message?: string): Promise<void>;
}

/**
 * OpenShift's API server with its own definitions, and what an installation leaves of the kinds that a site changes.
 * `args`: more arguments of it.
 */
export async function startSiteCluster(
  t: Pick<Test, 'testdir' | 'teardown' | 'same'>,
  lifetimeMs: number,
  args: readonly string[] = [],
): Promise<SiteCluster> {
  const [kubernetes = '', api = ''] = await Promise.all(
    [openshiftKubernetes, openshiftApi].map(cachedFolder),
  );
  const signal = AbortSignal.timeout(lifetimeMs);
  const routes = await ensureComponent(openshiftRoute, { signal, report: () => undefined });
  const server = await startForkApiServer(t, kubernetes, lifetimeMs, args);
  const payload = (await readdir(join(api, PAYLOAD_CRDS))).filter((name) =>
    SITE_DEFINITIONS.test(name),
  );
  for (const path of [
    ...payload.map((name) => join(api, PAYLOAD_CRDS, name)),
    join(api, OPERATOR_CRDS, '0000_50_ingress_00_ingresscontrollers.crd.yaml'),
    join(api, OPERATOR_CRDS, '0000_00_cluster-version-operator_01_clusteroperators.crd.yaml'),
    join(routes, ROUTE_CRD),
  ]) {
    await server.apply(path, await readFile(path, 'utf8'));
  }
  const installed = [...NAMESPACES, ...INSTALLED];
  await server.apply('installed', installed.map((object) => stringify(object)).join('---\n'));
  const { admin, limits } = server;
  return {
    ...server,
    async openShiftApiServerSays(apps, progressing, message = '') {
      const cluster = { name: 'cluster' };
      const found = await admin.get(openShiftApiServers, cluster, limits);
      const observedConfig = { routingConfig: { subdomain: apps } };
      const spec = { managementState: 'Managed', observedConfig };
      await admin.replace(openShiftApiServers, cluster, { ...found, spec }, limits);
      const place = { name: 'openshift-apiserver' };
      const conditions = [
        condition('Progressing', progressing, message),
        condition('Available', 'True'),
        condition('Degraded', 'False'),
      ];
      const relatedObjects = [
        { group: '', resource: 'namespaces', name: 'openshift-apiserver', namespace: '' },
      ];
      const status = { conditions, relatedObjects };
      const body = { ...(await admin.get(clusterResources.operators, place, limits)), status };
      await admin.replace(
        clusterResources.operators,
        { ...place, subresource: 'status' },
        body,
        limits,
      );
    },
  };
}

const openShiftApiServers = {
  apiVersion: 'operator.openshift.io/v1',
  plural: 'openshiftapiservers',
  schema: objectSchema,
};

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const NAMESPACES = [
  ...['openshift-config', 'openshift-ingress', 'openshift-ingress-operator', 'shop', 'web'],
  ...[
    'openshift-monitoring',
    'openshift-console',
    'openshift-ingress-canary',
    'openshift-apiserver',
  ],
].map(namespaceOf);
