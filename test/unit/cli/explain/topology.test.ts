import t from 'tap';
import { stringify } from 'yaml';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { topologyReportSchema } from '../../../../lib/config/topology/report.ts';
import { read } from '../../docs/documents.ts';
import { GOOD } from '../install-config-file.ts';
import { sno } from '../run-sno.ts';
import { installerIgnition } from './installer-ignition.ts';

const explain = (...args: string[]) => sno(['explain', 'topology', ...args]);
const inFile = (t: Pick<typeof import('tap').t, 'testdir'>, text: string, name = 'a.yaml') =>
  `${t.testdir({ [name]: text })}/${name}`;

/** The scenario and platform of the row that is marked. */
const marked = (out: string) =>
  out
    .split('\n')
    .filter((line) => /^> {2}\S/.test(line))
    .map((line) => line.split(/ {2,}/).slice(1, 3).join(', '));

async function reportOf(...args: string[]) {
  const { code, out, err } = await explain(...args, '--json');
  t.equal(code, 0, err);
  const report = topologyReportSchema.parse(JSON.parse(out));
  t.same(report, JSON.parse(out), 'the schema names every field');
  return report;
}

t.test('without a cluster, the whole table', async (t) => {
  const { code, out, err } = await explain();
  t.equal(code, 0);
  t.equal(err, '');
  t.same(marked(out), []);
  t.match(out, /^ +SCENARIO +PLATFORM +DAY 1 +DAY 2 +INFRASTRUCTURE +WORKLOADS +INGRESS\n/);
  t.match(out, /\n {3}one day-1 worker +cloud +1 +1 +HighlyAvailable +on all nodes +2 on worker\n/);
  t.match(
    out,
    /\n {3}several day-1 workers +none +2\+ +2\+ +SingleReplica +on workers +1 on master\n/,
  );
  t.match(out, /Cloud: aws, .*powervs\.\n/);
  t.match(out, /use --config, --from-ignition or --compute and --platform/);
  const report = await reportOf();
  t.equal(report.rows.length, 8);
  t.same(Object.keys(report), ['schemaVersion', 'rows']);
});

const MARKED = [
  [['--compute', '0'], 'no workers, none'],
  [['--compute', '0', '--later-workers', '2'], 'day-2 workers only, none'],
  [['--platform', 'aws'], 'no workers, cloud'],
  [['--compute', '1', '--platform', 'none'], 'one day-1 worker, none'],
  [['--compute', '1', '--platform', 'external'], 'one day-1 worker, cloud'],
  [['--compute', '2'], 'several day-1 workers, none'],
  [['--compute', '5', '--platform', 'powervs'], 'several day-1 workers, cloud'],
  [['--platform', 'gcp', '--later-workers', '1'], 'day-2 workers only, cloud'],
] as const;

t.test('the row that applies is marked', async (t) => {
  for (const [args, row] of MARKED) {
    const { code, out } = await explain(...args);
    t.equal(code, 0, args.join(' '));
    t.same(marked(out), [row], args.join(' '));
  }
  t.match(
    (await explain('--compute', '1', '--later-workers', '2')).out,
    /1 control-plane node, 1 worker, 2 later, platform none/,
  );
});

t.test('what follows on Kubernetes', async (t) => {
  const { out } = await explain('--compute', '1');
  t.match(out, /labels of the control-plane node: node-role\.kubernetes\.io\/control-plane\n/);
  t.match(out, /its taints: node-role\.kubernetes\.io\/control-plane:NoSchedule\n/);
  t.match(
    out,
    /an ingress controller: 1 replica, node selector kubernetes\.io\/os=linux, node-role/,
  );
  t.notMatch(out, /OpenShift \d/);
  t.match((await explain('--compute', '0')).out, /its taints: none\n/);
  t.match(
    (await explain('--compute', '1', '--platform', 'aws')).out,
    /2 replicas, .* tolerations none\n/,
  );
});

t.test('what follows on OpenShift', async (t) => {
  const { out } = await explain('--compute', '2', '--release', '4.19');
  t.match(out, /On OpenShift 4\.19:\n/);
  t.match(
    out,
    /Scheduler: mastersSchedulable false \(manifests\/cluster-scheduler-02-config\.yml\)\n/,
  );
  t.match(out, /openshift-install decides otherwise: infrastructureTopology HighlyAvailable\.$/);
  t.notMatch(out, /On Kubernetes/);
  t.match(
    (await explain('--compute', '0', '--kind', 'openshift')).out,
    /On OpenShift 5\.0:[\s\S]*decides the same\.$/,
  );
});

t.test('--json has everything', async (t) => {
  const kubernetes = await reportOf('--compute', '3', '--later-workers', '1');
  t.same(kubernetes.inputs, { controlPlane: 1, compute: 3, laterWorkers: 1, platform: 'none' });
  t.same(
    kubernetes.rows.filter(({ applies }) => applies).map(({ scenario }) => scenario),
    ['several day-1 workers'],
  );
  t.match(kubernetes.kubernetes?.node.taints, [{ effect: 'NoSchedule' }]);
  t.equal(kubernetes.openshift, undefined);
  const openshift = await reportOf('--platform', 'aws', '--release', '4.16.3');
  t.equal(openshift.kubernetes, undefined);
  t.equal(openshift.openshift?.release, '4.16');
  t.match(openshift.openshift?.manifests.at(-1), { object: { kind: 'IngressController' } });
  t.same(
    (await reportOf('--compute', '1', '--platform', 'aws', '--release', '4.19')).openshift
      ?.installer,
    [
      { field: 'infrastructureTopology', expected: 'HighlyAvailable', installer: 'SingleReplica' },
      { field: 'mastersSchedulable', expected: true, installer: false },
    ],
  );
});

t.test('--manifests is a stream of YAML', async (t) => {
  const { code, out } = await explain('--compute', '0', '--manifests');
  t.equal(code, 0);
  t.match(out, /^---\n# manifests\/cluster-infrastructure-02-config\.yml \(only the fields/);
  t.match(out, /\n---\n# manifests\/cluster-scheduler-02-config\.yml\napiVersion/);
  const { manifests, undecodable } = decodeManifests('stdout', `${out}\n`);
  t.same(undecodable, []);
  const { openshift } = await reportOf('--compute', '0', '--manifests');
  t.same(
    manifests.map(({ object }) => object),
    openshift?.manifests.map(({ object }) => object),
  );
});

t.test('--config: the cluster of an install-config', async (t) => {
  t.same(marked((await explain('--config', inFile(t, GOOD))).out), ['no workers, none']);
  const more = `controlPlane: {replicas: 1}\ncompute: [{name: worker, replicas: 1}, {name: edge, replicas: 1}]\nplatform: {aws: {region: eu}}\n`;
  t.same(marked((await explain('--config', inFile(t, more))).out), [
    'several day-1 workers, cloud',
  ]);
  const defaults = `controlPlane: {replicas: 1}\nplatform: {none: {}}\n`;
  const { out } = await explain('--config', inFile(t, defaults), '--later-workers', '1');
  t.same(marked(out), ['several day-1 workers, none']);
  t.match(out, /3 workers, 1 later/);
});

t.test('--from-ignition: what openshift-install decided', async (t) => {
  const path = inFile(t, installerIgnition(), 'a.ign');
  const { code, out, err } = await explain('--from-ignition', path);
  t.equal(err, '');
  t.equal(code, 0);
  t.same(marked(out), ['no workers, none']);
  t.match(out, /On OpenShift 4\.18:/);
  t.match(
    out,
    /decides the same\.\nThe manifests lack, or have otherwise:\n {2}IngressController openshift-ingress-operator\/default: does not exist \(manifests/,
  );
  t.match((await explain('--from-ignition', path, '--release', '4.14')).out, /On OpenShift 4\.14:/);

  const report = await reportOf('--from-ignition', path);
  t.same(
    report.differences?.map(({ object }) => object),
    [
      'IngressController openshift-ingress-operator/default',
      'Namespace openshift-cluster-machine-approver',
      'ConfigMap openshift-cluster-machine-approver/machine-approver-config',
    ],
  );

  t.test('a value that somebody changed', async (t) => {
    const changed = installerIgnition({
      'manifests/cluster-scheduler-02-config.yml': stringify({
        apiVersion: 'config.openshift.io/v1',
        kind: 'Scheduler',
        metadata: { name: 'cluster' },
        spec: {},
      }),
    });
    const { out } = await explain('--from-ignition', inFile(t, changed, 'b.ign'));
    t.match(out, /\n {2}Scheduler cluster: spec\.mastersSchedulable is absent, expected true \(/);
  });

  t.test('manifests that have everything', async (t) => {
    const { out: stream } = await explain('--compute', '0', '--manifests');
    const added = `${stream.split('---\n').slice(4).join('---\n')}\n`;
    const complete = installerIgnition({ 'openshift/99_topology.yaml': added });
    const { out } = await explain('--from-ignition', inFile(t, complete, 'c.ign'));
    t.match(out, /decides the same\.\nThe manifests have all of this\.$/);
  });

  t.test('an unknown release', async (t) => {
    const version = (spec: string) =>
      `{apiVersion: config.openshift.io/v1, kind: ClusterVersion, metadata: {name: version}, spec: ${spec}}`;
    for (const text of [
      '',
      version('{}'),
      version('{channel: ""}'),
      version('{channel: stable-4}'),
    ]) {
      const unknown = installerIgnition({ 'manifests/cvo-overrides.yaml': text });
      const { out } = await explain('--from-ignition', inFile(t, unknown, 'd.ign'));
      t.match(out, /On OpenShift 5\.0:/, text);
    }
  });

  t.test('an empty file, as Ignition writes it', async (t) => {
    const empty = installerIgnition().replace(
      '"files":[',
      '"files":[{"path":"/opt/openshift/openshift/a.yaml"},{"path":"/opt/openshift/openshift/b.yaml","contents":{}},',
    );
    const run = await explain('--from-ignition', inFile(t, empty, 'e.ign'));
    t.match(run, { code: 0, out: /^> {2}no workers +none/m });
  });
});

t.test('the commands of the guide', async (t) => {
  const [, block = ''] =
    /\n## Topology\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('docs/operator.md')) ?? [];
  const commands = block.split('\n').filter((line) => line !== '');
  t.equal(commands.length, 5);
  const folder = t.testdir({ 'a.yaml': GOOD, 'a.ign': installerIgnition() });
  for (const command of commands) {
    const [name, ...args] = command
      .replace(/ +#.*/, '')
      .replace('D/install-config.yaml', `${folder}/a.yaml`)
      .replace('bootstrap-in-place-for-live-iso.ign', `${folder}/a.ign`)
      .split(' ');
    t.equal(name, 'sno');
    const { code, err } = await sno(args);
    t.equal(code, 0, `${command}: ${err}`);
  }
});
