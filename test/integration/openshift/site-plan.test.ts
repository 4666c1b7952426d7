/**
 * What a site is to OpenShift's API, step by step in the order of the plan, on OpenShift's own API server: each agent is killed
 * after its first change, and the next one goes on. No operator runs: the test says what openshift-apiserver's would, and a
 * server of the test is in the router's place. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere, each step killed behind each change:
 * test/unit/agents/reconfigure/openshift-{objects,routes,arrival}.test.ts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import {
  siteCertificatesOnOpenShift,
  siteIdentity,
} from '../../../agents/reconfigure/openshift/certificates.ts';
import { namesAt } from '../../../agents/reconfigure/openshift/names.ts';
import { siteObjectsOnOpenShift } from '../../../agents/reconfigure/openshift/objects.ts';
import { routes } from '../../../agents/reconfigure/openshift/routes.ts';
import { settleOpenShiftSite } from '../../../agents/reconfigure/openshift/settle.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import type { Call } from '../../../lib/clients/kube/transport.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { type SiteStepContext, siteContext } from '../../unit/agents/reconfigure/openshift-step.ts';
import { NodeObjects } from '../node-objects.ts';
import { startIngress } from './ingress.ts';
import { LATER } from './later-kind.ts';
import { notBuilt, startSiteCluster } from './site-cluster.ts';
import { StoppedClient } from './stopped-client.ts';

type Carried = Pick<StepBody<SiteStepContext>, 'name' | 'run' | 'holds'>;

const LIFETIME_MS = 300_000;
const skip = await notBuilt();
const OLD = 'apps.sno.factory.test';
const NEW = 'apps.sno.site.test';

const SITE = `api_version: 1
cluster_name: sno
base_domain: site.test
node_labels: {site: "7"}
pull_secret: '{"auths":{"site.test":{"auth":"YTpi"}}}'
imageDigestSources:
  - source: quay.test/ocp
    mirrors: [registry.site.test/ocp]
`;

const MANIFESTS = `apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: extra}
---
${LATER}`;

const route = (name: string) => ({
  apiVersion: 'route.openshift.io/v1',
  kind: 'Route',
  metadata: { namespace: 'shop', name },
  spec: { host: `${name}.${OLD}`, to: { kind: 'Service', name } },
});

t.test('a site on OpenShift', { skip, timeout: LIFETIME_MS }, async (t) => {
  const given = {
    former: { clusterName: 'sno', baseDomain: 'factory.test' },
    site: SITE,
    manifests: MANIFESTS,
  };
  const host = testHost(t, {
    cluster: { controlPlane: 'openshift' },
    hostname: 'edge-0',
    settings: { reconfigureOperatorsWindowMs: 1_500 },
  });
  host.programs.give('systemctl', 'true');
  host.programs.give('ip', 'echo "[]"');

  // Before the API server, which has the certificate as its operator would give it: as a file, for that name alone.
  const unused = new KubeClient({ server: new URL('https://127.0.0.1:1'), ca: '' });
  const { context: offline } = await siteContext(t, unused, { ...given, host });
  t.match(await siteCertificatesOnOpenShift.run(offline, host.progress()), { kind: 'done' });
  const identity = await siteIdentity(offline);
  if (identity === undefined) throw new Error('no certificates');
  const files = { certificate: join(host.root, 'api.crt'), key: join(host.root, 'api.key') };
  await writeFile(files.certificate, identity.api.certificate);
  await writeFile(files.key, identity.api.key);
  const named = `--tls-sni-cert-key=${files.certificate},${files.key}:api.sno.site.test`;
  const cluster = await startSiteCluster(t, LIFETIME_MS, [named]);
  const { admin, controlPlane, limits, apply, openShiftApiServerSays } = cluster;
  await apply('routes', ['till', 'web'].map((name) => stringify(route(name))).join('---\n'));
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'edge-0' } };
  await admin.create(resources.nodes, {}, node, limits);

  const access = await controlPlane.access({ name: 'admin', groups: ['system:masters'] });
  const made: Call[] = [];
  /** Runs a step until it is done; each process is killed after its first change. Returns how many were. */
  const carriedOut = async (step: Carried): Promise<number> => {
    for (let killed = 0; ; killed++) {
      using client = new StoppedClient(access, made);
      const { context } = await siteContext(t, client, { ...given, host });
      try {
        const outcome = await step.run(context, host.progress());
        t.match(outcome, { kind: 'done' }, step.name);
        t.ok(await step.holds(context, host.progress()), `${step.name} holds`);
        return killed;
      } catch (error) {
        if (error !== client.stopped) throw error;
      }
    }
  };
  const context = async () => (await siteContext(t, admin, { ...given, host })).context;

  await t.test('objects: killed after each change', async (t) => {
    t.ok((await carriedOut(siteObjectsOnOpenShift)) > 10);
    // By PUT with the version that was read, and by POST: the server would refuse or repeat a second one.
    const written = made.filter(({ method }) => method === 'PUT').map(({ path }) => path);
    t.same(written, [...new Set(written)], 'each object is replaced once');
    t.ok(await admin.find(resources.configMaps, { namespace: 'shop', name: 'extra' }, limits));
    t.ok(host.has('/etc/systemd/system/sno-deferred.service'), 'Fast waits');
  });

  await t.test('routes: not before the operator is ready, then killed after each', async (t) => {
    t.match(await routes.run(await context(), host.progress()), { kind: 'not-yet' });
    await openShiftApiServerSays(NEW, 'False');
    t.equal(await carriedOut(routes), 2);
    const { items } = await admin.list(openShiftResources.routes, {}, limits);
    t.same(
      items.map(({ spec }) => spec.host),
      [`till.${NEW}`, `web.${NEW}`],
    );
  });

  await t.test('settle: not while an operator rolls out, nor by what it said before', async (t) => {
    const left = (ms: number) => host.progress(AbortSignal.timeout(60_000), ms);
    await t.rejects(settleOpenShiftSite.run(await context(), left(4_000)), {
      kind: 'deadline',
      message: /did not settle at its site; expected no change for 1\.5 s.*Node edge-0/s,
    });
    const node = new NodeObjects(admin, 'edge-0', limits);
    await node.node();
    await node.lease('kube-controller-manager');
    await node.pod('kube-system', 'etcd-edge-0', new Date());
    await t.rejects(settleOpenShiftSite.run(await context(), left(4_000)), {
      message: /ClusterOperator openshift-apiserver is as it was before this boot/,
    });
    await node.pod('openshift-apiserver', 'apiserver-edge-0', new Date());
    await openShiftApiServerSays(NEW, 'True', 'revision 5');
    await t.rejects(settleOpenShiftSite.run(await context(), left(4_000)), {
      message: /ClusterOperator openshift-apiserver has Progressing True: revision 5/,
    });
    await openShiftApiServerSays(NEW, 'False');
    t.match(await settleOpenShiftSite.run(await context(), left(30_000)), { kind: 'done' });
  });

  await t.test(
    'names: the API server shows the certificate, and the operators say so',
    async (t) => {
      const ingress = await startIngress(t, identity.ingress);
      const ports = { api: Number(controlPlane.server.port), ingress };
      const names = namesAt(ports);
      await publish(`console-openshift-console.${OLD}`);
      t.match(await names.run(await context(), host.progress()), {
        kind: 'not-yet',
        reason: `openshift-console/console is at console-openshift-console.${OLD}, not yet at console-openshift-console.${NEW}`,
      });
      await publish(`console-openshift-console.${NEW}`);
      t.match(await names.run(await context(), host.progress()), {
        note: `api.sno.site.test, console-openshift-console.${NEW}, downloads-openshift-console.${NEW}, oauth-openshift.${NEW} at 127.0.0.1`,
      });
      // Of the authority of the site, but for another name.
      const wrong = namesAt({ ...ports, ingress: ports.api });
      await t.rejects(wrong.run(await context(), host.progress()), {
        kind: 'retry',
        code: 'site-name',
        message: /console-openshift-console\.\S+ does not show its certificate/,
      });
    },
  );

  await t.test('the whole again: nothing is written', async (t) => {
    const before = made.length;
    for (const step of [siteObjectsOnOpenShift, routes])
      t.equal(await carriedOut(step), 0, step.name);
    t.equal(made.length, before);
  });

  /** As the console's operator has it. */
  async function publish(hostname: string): Promise<void> {
    const place = { name: 'cluster' };
    const found = await admin.get(openShiftResources.ingresses, place, limits);
    const componentRoutes = [
      {
        ...{ namespace: 'openshift-console', name: 'console', currentHostnames: [hostname] },
        defaultHostname: `console-openshift-console.${OLD}`,
        consumingUsers: [],
        relatedObjects: [
          {
            group: 'route.openshift.io',
            resource: 'routes',
            name: 'console',
            namespace: 'openshift-console',
          },
        ],
      },
    ];
    const body = { ...found, status: { ...found.status, componentRoutes } };
    await admin.replace(
      openShiftResources.ingresses,
      { ...place, subresource: 'status' },
      body,
      limits,
    );
  }
});
