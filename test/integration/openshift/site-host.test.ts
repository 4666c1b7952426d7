/**
 * The whole plan of a site on OpenShift, on a host in a folder and OpenShift's own API server: every step in a process of its
 * own, as if each had been killed behind it, and once more inside the steps of the host (test/unit/agents/reconfigure).
 * The kubelet's certificates have expired under way: the test asks for new ones as a kubelet does. No operator runs: the
 * test says what they would. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: the steps of the host and of the API, one by one, in
 * test/unit/agents/reconfigure/openshift*.ts.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { arrive } from '../../../agents/reconfigure/arrive.ts';
import {
  type ReconfigureContext,
  reconfigureContext,
} from '../../../agents/reconfigure/context.ts';
import { siteIdentity } from '../../../agents/reconfigure/openshift/certificates.ts';
import { namesAt } from '../../../agents/reconfigure/openshift/names.ts';
import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import type { CertificateAccess } from '../../../lab/servers/control-plane.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { beforeFolder } from '../../../lib/change/site/places.ts';
import { siteChange } from '../../../lib/change/site/request.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { nodeBootstrapper } from '../../../lib/cluster/csr/judge-own-client.ts';
import { runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { readKept } from '../../../lib/engine/trial/kept.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import { readSettings } from '../../../lib/host/settings.ts';
import { installed } from '../../unit/agents/reconfigure/openshift-disk.ts';
import { openShiftFactory, STATIC_SITE } from '../../unit/agents/reconfigure/openshift-site.ts';
import { checked, insert } from '../../unit/agents/reconfigure/site-host.ts';
import { requestPem } from '../../unit/cluster/csr/requests.ts';
import { until as waitUntil } from '../deferred-host.ts';
import { NodeObjects } from '../node-objects.ts';
import { startIngress } from './ingress.ts';
import { notBuilt, startSiteCluster } from './site-cluster.ts';

const LIFETIME_MS = 240_000;
const skip = await notBuilt();
const NODE = 'edge-0';
const NEW = 'apps.edge.site.test';
const KUBECONFIG =
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig';
const PAIR = (of: string) => `/var/lib/kubelet/pki/kubelet-${of}-current.pem`;

t.test(
  'a site on OpenShift, from its volume to the way back',
  { skip, timeout: LIFETIME_MS },
  async (t) => {
    const host = await openShiftFactory(t);
    installed(host);
    const settings = {
      retryMs: 300,
      reconfigureOperatorsWindowMs: 1_500,
      reconfigureAnswersMs: 2_000,
      reconfigureOperatorsMs: 40_000,
      reconfigureRoutesMs: 20_000,
      reconfigureOperatorsTrialMs: 60_000,
    };
    host.write('/etc/sno-agents/settings.json', JSON.stringify(settings), 0o600);
    const said = `${STATIC_SITE}hostname: till-7\nnode_labels: {site: "7"}\n`;
    await insert(host, { config: checked(said) });
    const arrival = await arrive(host.paths, AbortSignal.timeout(60_000));
    if (arrival.kind !== 'request') throw new Error(arrival.note);

    // Of the test, instead of 6443 and 443.
    const ports = { api: 0, ingress: 0 };
    const all = reconfigureOpenShiftPlan(await readSettings(host.paths));
    const steps: typeof all.steps = all.steps.map((step) =>
      step.name === 'names' ? { ...step, run: (...args) => namesAt(ports).run(...args) } : step,
    );
    const lines: string[] = [];
    /** A process that ends behind the step. */
    const until = async (step: string, ...more: string[]): Promise<number> =>
      runAgentCommand<ReconfigureContext>(
        {
          plan: { ...all, steps },
          paths: host.paths,
          context: () => reconfigureContext(host.paths),
        },
        ['run', '--until', step, ...more],
        { write: (text) => void lines.push(text) },
      );

    // Before the API server, which has the certificate as its operator would give it: as a file, for that name alone.
    t.equal(await until('certificates', '--from', 'certificates'), 0);
    const identity = await siteIdentity({ paths: host.paths, request: arrival.request });
    if (identity === undefined) throw new Error('no certificates');
    const files = { certificate: join(host.root, 'api.crt'), key: join(host.root, 'api.key') };
    await writeFile(files.certificate, identity.api.certificate);
    await writeFile(files.key, identity.api.key);
    const named = `--tls-sni-cert-key=${files.certificate},${files.key}:api.edge.site.test`;
    const cluster = await startSiteCluster(t, LIFETIME_MS, [named]);
    const { admin, controlPlane, limits, apply } = cluster;
    await apply('bootstrapper', BOOTSTRAPPER);
    const operator = { name: 'system:admin', groups: ['system:masters'] };
    host.write(KUBECONFIG, await controlPlane.kubeconfig(operator), 0o600);
    const node = new NodeObjects(admin, NODE, limits);
    await node.node();
    await withAddress(admin, limits);
    ports.api = Number(controlPlane.server.port);
    ports.ingress = await startIngress(t, identity.ingress);

    const reaches = async (step: string) => {
      t.equal(await until(step), 0, `${step}: ${lines.splice(0).join('')}`);
      const reverting = (await readTrial(host.paths))?.reverting;
      if (reverting !== undefined) throw new Error(`${step}: ${JSON.stringify(reverting)}`);
    };

    await t.test('the host, each step in a process of its own', async (t) => {
      for (const step of ['check', 'arm', 'stop', 'network', 'local-names', 'hostname', 'clock']) {
        await reaches(step);
      }
      t.equal(host.read('/etc/hostname'), 'till-7\n');
      t.ok(host.has('/etc/sno-agents/sealed'), 'the kubelet is off meanwhile');
      t.ok((await readTrial(host.paths)) !== undefined, 'on trial');
    });

    await t.test('start: requests of this kubelet are approved, and no others', async (t) => {
      const began = until('start');
      const bootstrapper = await controlPlane.access({
        name: nodeBootstrapper,
        groups: [
          'system:serviceaccounts',
          'system:serviceaccounts:openshift-machine-config-operator',
        ],
      });
      await asks(bootstrapper, 'edge-1', 'other', limits);
      await asks(bootstrapper, NODE, 'client', limits);
      await approved(admin, 'client', limits);
      // As the controller-manager signs it, and the kubelet writes it.
      const own = await controlPlane.access({
        name: `system:node:${NODE}`,
        groups: ['system:nodes'],
      });
      host.write(PAIR('client'), own.certificate + own.key, 0o600);
      await asks(own, NODE, 'serving', limits);
      await approved(admin, 'serving', limits);
      host.write(PAIR('server'), own.certificate + own.key, 0o600);
      t.equal(await began, 0, lines.splice(0).join(''));
      t.notOk(host.has('/etc/sno-agents/sealed'));
      const place = { name: 'other' };
      const other = await admin.get(resources.certificateSigningRequests, place, limits);
      t.same(other.status?.conditions ?? [], [], 'that for another node is left pending');
      // A cluster with an open request, which nobody signs here, is not at rest.
      for (const name of ['client', 'serving', 'other']) {
        await admin.remove(resources.certificateSigningRequests, { name }, limits);
      }
    });

    await t.test('the objects of the API, and rest', async () => {
      for (const step of ['certificates', 'objects']) await reaches(step);
      await cluster.openShiftApiServerSays(NEW, 'False');
      await reaches('routes');
      await node.lease('kube-controller-manager');
      await node.node().catch(() => undefined);
      await node.pod('kube-system', `etcd-${NODE}`, new Date());
      await node.pod('openshift-apiserver', `apiserver-${NODE}`, new Date());
      await cluster.openShiftApiServerSays(NEW, 'False');
      await reaches('settle');
    });

    await t.test('dialled, and kept with a way back', async (t) => {
      // Of the addresses of the host, the test machine has loopback only.
      host.programs.give('ip', 'echo "[]"');
      await reaches('names');
      await reaches('conclude');
      t.match(await siteChange.last(host.paths), { outcome: 'configured' });
      t.equal(await siteChange.read(host.paths), undefined);
      t.equal(await readTrial(host.paths), undefined);
      const kept = await readKept(beforeFolder(host.paths));
      t.ok(kept?.points.moved.some(({ path }) => path === '/etc/kubernetes/static-pod-resources'));
    });
  },
);

const BOOTSTRAPPER = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test-bootstrapper}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:node-bootstrapper}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: '${nodeBootstrapper}'}
`;

/** The address of its bridge, which the kubelet registers. */
async function withAddress(admin: KubeClient, limits: Limits): Promise<void> {
  const place = { name: NODE };
  const found = await admin.get(resources.nodes, place, limits);
  const addresses = [{ type: 'InternalIP', address: '192.0.2.10' }];
  const body = { ...found, status: { ...found.status, addresses } };
  await admin.replace(resources.nodes, { ...place, subresource: 'status' }, body, limits);
}

/** A request as a kubelet makes it: for its client certificate, or for its serving certificate. */
async function asks(
  access: CertificateAccess,
  nodeName: string,
  name: 'client' | 'serving' | 'other',
  limits: Limits,
): Promise<void> {
  const isServing = name === 'serving';
  const subject = [{ O: ['system:nodes'] }, { CN: [`system:node:${nodeName}`] }];
  const names = [
    { type: 'dns' as const, value: nodeName },
    { type: 'ip' as const, value: '192.0.2.10' },
  ];
  const pem = await requestPem({ subject, names: isServing ? names : [] });
  using client = new KubeClient(access);
  const kind = isServing ? 'kubelet-serving' : 'kube-apiserver-client-kubelet';
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: `kubernetes.io/${kind}`,
      usages: ['digital signature', isServing ? 'server auth' : 'client auth'],
    },
  };
  await client.create(resources.certificateSigningRequests, {}, body, limits);
}

async function approved(admin: KubeClient, name: string, limits: Limits): Promise<void> {
  await waitUntil(`${name} to be approved`, async () => {
    const { status } = await admin.get(resources.certificateSigningRequests, { name }, limits);
    return status?.conditions?.some(({ type }) => type === 'Approved') === true;
  });
}
