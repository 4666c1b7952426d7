import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { combinedIgnition } from '../../../../agents/bootkube/handover/combined-ignition.ts';
import { installedHostConfig } from '../../../../agents/bootkube/handover/installed-host.ts';
import {
  machineConfigServer,
  masterIgnition,
} from '../../../../agents/bootkube/handover/master-ignition.ts';
import { quiesce } from '../../../../agents/bootkube/handover/quiesce.ts';
import { snapshotPath, snapshotRecordPath } from '../../../../agents/bootkube/handover/snapshot.ts';
import { controlPlane } from '../../../../agents/steps/control-plane.ts';
import { standaloneKubelet } from '../../../../agents/steps/kubelet.ts';
import { identityFolder } from '../../../../agents/steps/kubelet-identity.ts';
import { applyAllManifests } from '../../../../agents/steps/manifests.ts';
import { payload } from '../../../../agents/steps/payload.ts';
import { render } from '../../../../agents/steps/render.ts';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { ledgerSchema } from '../../../../lib/cluster/installation/ledger.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { installedHost, liveHost } from '../../../../lib/render/hosts.ts';
import { parseConfig, serializeConfig } from '../../../../lib/render/ignition/config.ts';
import { configOf, file } from '../../../../lib/render/ignition/entries.ts';
import { effectiveConfig } from '../../../../lib/render/ignition/validate.ts';
import { loadIdentity, loadRendered } from '../../../../lib/render/store.ts';
import { installerFiles, keys, results, writeFiles } from '../../render/openshift/fake-podman.ts';
import { imageReferences, referenceOf } from '../../render/openshift/release.ts';
import { fakeApi, kubeconfigs, refuse } from '../host/api.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { fakeRuntime } from '../host/runtime.ts';

const openshift = {
  releaseImage: referenceOf('release'),
  version: '4.21',
  clusterId: '0b0cdb0a-0000-4000-8000-000000000000',
  infrastructureName: 'edge-abcde',
  platform: 'none',
};

/** Its storage is a folder with a file for each image; a render stage copies its results. */
const PODMAN = `
for last in "$@"; do case "$last" in
  --name=sno-render-*) stage=\${last#--name=sno-render-} ;;
  --volume=*:/assets:z) assets=\${last#--volume=}; assets=\${assets%:/assets:z} ;;
esac; done
stored="$ROOT/storage/$(echo "$last" | tr '/:@' ___)"
case "$1" in
image)
  [ -e "$stored" ] || exit 125
  echo '[{"Digest":"'"\${last#*@}"'","RepoDigests":[],"Architecture":"${process.arch === 'arm64' ? 'arm64' : 'amd64'}"}]' ;;
pull) mkdir -p "$ROOT/storage"; touch "$stored" ;;
run)
  case "$last" in
  */image-references) cat "$ROOT/image-references" ;;
  */release-metadata) echo '{"version":"4.21.0"}' ;;
  *) cp -r "$ROOT/results/$stage/." "$assets/" ;;
  esac ;;
*) exit 1 ;;
esac`;

/** A live host that was taken over from openshift-install, before the step payload. */
function openShiftHost(t: Test): TestHost {
  const host = testHost(t, { cluster: { controlPlane: 'openshift', openshift } });
  host.programs.give('systemctl', 'exit 0');
  host.programs.give('systemd-run', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  host.programs.give('podman', PODMAN);
  giveAddresses(host, '192.0.2.10/24');
  writeFiles(host.paths.assets, installerFiles());
  writeFileSync(join(host.root, 'image-references'), imageReferences);
  for (const [stage, files] of Object.entries(results())) {
    const folder = join(host.root, 'results', stage);
    mkdirSync(folder, { recursive: true });
    writeFiles(folder, files);
  }
  return host;
}

/** What the steps payload and render leave, which takes hundreds of processes. */
let renderedTree = '';

/** The same after the steps payload and render. */
async function renderedHost(t: Test): Promise<TestHost> {
  const host = openShiftHost(t);
  if (renderedTree !== '') {
    cpSync(renderedTree, host.root, { recursive: true });
    return host;
  }
  host.write('/opt/openshift/original_cvo_overrides.patch', '{"spec":{}}');
  await host.run(payload);
  await host.run(render(liveHost, installedHost));
  renderedTree = mkdtempSync(join(tmpdir(), 'sno-rendered-'));
  process.on('exit', () => rmSync(renderedTree, { recursive: true }));
  cpSync(host.root, renderedTree, { recursive: true });
  return host;
}

/** The same after its etcd has stopped. */
async function stoppedHost(t: Test): Promise<TestHost> {
  const host = await renderedHost(t);
  const { context } = host;
  host.write(join(identityFolder(context), 'kubelet-client-2026-01-31-00-00-00.pem'), 'identity');
  host.write(snapshotPath(context), 'snapshot');
  host.write(
    snapshotRecordPath(context),
    JSON.stringify({
      clusterId: context.cluster.clusterId,
      sha256: '0'.repeat(64),
      bytes: 8,
      revision: 1,
      hash: 1,
      compactRevision: 1,
      etcdVersion: '3.6.5',
      hostname: 'edge-0',
      nodeIps: ['192.0.2.10'],
    }),
  );
  return host;
}

t.test('payload: the images of the release are pulled', async (t) => {
  const host = openShiftHost(t);
  t.equal(await host.holds(payload), false, 'before');
  t.same(await host.run(payload), { kind: 'done', note: 'OpenShift 4.21.0, 12 images' });
  t.equal(await host.holds(payload), true, 'after');
  const of = (tag: string) =>
    payload.input(
      testHost(t, { cluster: { openshift: { ...openshift, releaseImage: tag } } }).context,
    );
  t.notSame(of('registry.example/a:1'), of('registry.example/a:2'), 'another release is pulled');
});

t.test('payload: an unknown newer release, refused and accepted', async (t) => {
  const host = openShiftHost(t);
  host.programs.give('podman', PODMAN.replace('4.21.0', '5.1.0'));
  t.match(await host.failureOf(payload), {
    kind: 'usage',
    message: /OpenShift 5\.1\.0 cannot be rendered.*--accept-unknown-release.*create it again/,
  });
  const accepted = { ...openshift, unknownReleaseAccepted: true as const };
  const context = { ...host.context, cluster: { ...host.context.cluster, openshift: accepted } };
  const outcome = await payload.run(context, host.progress());
  t.match(outcome, { kind: 'done', note: 'OpenShift 5.1.0, 12 images' });
  t.match(host.lines.join('\n'), /5\.1\.0 is unknown to rendering.*treated as 5\.0/);
});

t.test('render: by the programs of the release, once', async (t) => {
  const host = openShiftHost(t);
  await host.run(payload);
  const step = render(liveHost, installedHost);
  t.equal(await host.holds(step), false, 'before');
  t.match(await host.run(step), { kind: 'done', note: /19 manifests/ });
  t.equal(await host.holds(step), true, 'after');
  t.same(await loadIdentity(host.paths), { hostname: 'edge-0', nodeIps: ['192.0.2.10'] });
  t.equal(host.read('/etc/kubernetes/bootstrap-secrets/etcd-client.key'), keys.etcdClient);
  t.equal(host.mode('/etc/kubernetes/bootstrap-secrets/etcd-client.key'), 0o600);
  t.equal(host.read('/etc/mcc/bootstrap/controllerconfig.yaml'), 'kind: ControllerConfig\n');
  t.notOk(host.has('/etc/kubernetes/manifests/etcd-pod.yaml'), 'the step etcd places it');
  t.notOk(existsSync(join(host.paths.assets, 'render')), 'no key is left in the work folder');
  t.notOk(host.has('/etc/sno-agents/render-input.json'), 'nothing is rendered again later');
  t.notOk(host.has('/etc/sno-agents/bootstrap-pods.json'), 'only the installed host needs it');
  host.programs.give('podman', 'exit 97');
  t.match(await host.run(step), { kind: 'done' }, 'from rendered.json');
});

t.test('kubelet: CRI-O takes up the pause image of the release first', async (t) => {
  const host = await renderedHost(t);
  host.programs.forgetCalls();
  host.programs.give(
    'systemctl',
    'case "$1" in show) echo ActiveState=active; echo NRestarts=0;; esac',
  );
  t.ok(await host.waitsFor(standaloneKubelet, /health endpoint/));
  const calls = host.programs.calls('systemctl');
  t.same(calls.slice(0, 3), [
    'systemctl restart crio.service',
    'systemctl daemon-reload',
    'systemctl start --no-block kubelet.service',
  ]);
});

t.test('control-plane: the API server is used before it is ready', async (t) => {
  const host = await renderedHost(t);
  const { staticPods } = await loadRendered(host.paths);
  await fakeRuntime(t, host, () => staticPods.map(({ container: name }) => ({ name })));
  // Its own roles can be created only after the definitions, which the step manifests creates.
  const { requests } = await fakeApi(t, host, {
    'GET /livez/etcd': () => ({}),
    'GET /readyz': () => refuse(500),
  });
  host.write('/etc/kubernetes/bootstrap-secrets/kubeconfig', host.read(kubeconfigs.bootstrapAdmin));
  t.same(await host.run(controlPlane), { kind: 'done' });
  t.equal(await host.holds(controlPlane), true);
  t.same([...new Set(requests)], ['GET /livez/etcd']);
});

t.test('manifests: the installer’s are applied as the stages completed them', async (t) => {
  const host = await renderedHost(t);
  // There is no API here: the test checks what would have been applied.
  await t.rejects(host.run(applyAllManifests));
  const folder = '/opt/openshift/rendered-manifests';
  t.match(host.read(`${folder}/99_feature-gate.yaml`), /"status"/);
  t.equal(host.read(`${folder}/cluster-config.yaml`), 'kind: ConfigMap\n');
  const before = await applyAllManifests.input(host.context);
  host.write('/opt/openshift/manifests/later.yaml', 'kind: Secret\n');
  t.same(await applyAllManifests.input(host.context), before, 'they were read by the step render');
});

t.test(
  'quiesce: what serves only the bootstrap stops; the machine-config server stays',
  async (t) => {
    const host = await renderedHost(t);
    const { staticPods } = await loadRendered(host.paths);
    const path = (file: string) => `/etc/kubernetes/manifests/${file}`;
    for (const { file, role } of staticPods)
      if (role !== 'api-server') host.write(path(file), 'placed');
    await fakeRuntime(t, host, () =>
      staticPods.map(({ file, container: name }) => ({
        name,
        state: host.has(path(file)) ? ('running' as const) : ('exited' as const),
      })),
    );
    t.equal(await host.holds(quiesce), false, 'before');
    await host.run(quiesce);
    t.same(
      staticPods.filter(({ file }) => host.has(path(file))).map(({ role }) => role),
      ['database', 'ignition-server'],
    );
    t.equal(await host.holds(quiesce), true, 'after');
  },
);

t.test('master-ignition: from the host’s own machine-config server', async (t) => {
  const host = openShiftHost(t);
  t.same(machineConfigServer(host.context), {
    url: 'https://api-int.edge.example.test:22623/config/master',
    caPath: host.at('/opt/openshift/tls/root-ca.crt'),
  });
  const url = 'https://elsewhere.example:22623/config/master';
  const elsewhere = { ...host.context.cluster, machineConfigServerUrl: url };
  t.match(machineConfigServer({ ...host.context, cluster: elsewhere }), { url });
  t.equal(machineConfigServer(testHost(t).context), undefined, 'rendered here');
  t.equal(await host.holds(masterIgnition), false);
});

t.test('combined-ignition: a key of the machine-config server is closed', async (t) => {
  const host = await stoppedHost(t);
  const kubeconfig = file('/etc/kubernetes/kubeconfig', 0o644, keys.etcdClient);
  const master = serializeConfig(configOf({ files: [kubeconfig] }));
  host.write('/opt/openshift/original-master.ign', master, 0o600);
  t.match(await host.run(combinedIgnition), { kind: 'done' });
  t.equal(await host.holds(combinedIgnition), true);
  const combined = parseConfig(host.read('/opt/openshift/master.ign'), 'master.ign');
  const { config } = effectiveConfig(combined);
  const found = config.storage?.files?.find(({ path }) => path === kubeconfig.path);
  t.equal(found?.mode, 0o600);
});

t.test(
  'the installed host has the static pods that the operators replace, and no others',
  async (t) => {
    const { context } = await stoppedHost(t);
    const { storage } = await installedHostConfig(context, { withBundle: false });
    const files = new Map(
      (storage?.files ?? []).map(({ path, contents }) => [
        path,
        decodeDataUrl(contents ?? {}).toString(),
      ]),
    );
    t.same(
      [...files.keys()].filter((path) => path.startsWith('/etc/kubernetes/manifests/')).toSorted(),
      [
        '/etc/kubernetes/manifests/kube-apiserver-pod.yaml',
        '/etc/kubernetes/manifests/kube-controller-manager-pod.yaml',
        '/etc/kubernetes/manifests/kube-scheduler-pod.yaml',
      ],
    );
    t.ok(files.has('/var/lib/sno-agents/restore/etcd-pod.yaml'));
    t.notOk(files.has('/etc/kubernetes/kubeconfig'), 'the machine-config server’s');
    const ledger = ledgerSchema.parse(
      JSON.parse(files.get('/etc/sno-agents/leftovers.json') ?? ''),
    );
    const listed = ledger.entries.map(({ path }) => path);
    for (const path of files.keys()) {
      if (path.startsWith('/etc/kubernetes/bootstrap-')) t.ok(listed.includes(path), path);
    }
    // For the agents, which are gone at the end of the installation.
    for (const [path, contents] of [
      ['/etc/sno-agents/executable.sha256', /^a{64} {2}\/var\/lib\/sno-agents\/bin\/sno-agents\n$/],
      ['/etc/systemd/system/sno-payload.service', /executable.sha256/],
      ['/etc/systemd/system/sno-label.service', /chcon/],
      ['/etc/systemd/system/sno-gather.service', /gather/],
      ['/etc/systemd/system/sno-restore.service.d/10-openshift.conf', /PrivateUsers=no/],
      ['/opt/openshift/original_cvo_overrides.patch', '{"spec":{}}'],
    ] as const) {
      t.match(files.get(path), contents, path);
      t.ok(listed.includes(path), `${path} is deleted`);
    }
    const pods: unknown = JSON.parse(files.get('/etc/sno-agents/bootstrap-pods.json') ?? '');
    t.match(pods, [
      { component: 'etcd', path: '/etc/kubernetes/manifests/etcd-pod.yaml' },
      { component: 'kube-apiserver' },
      { component: 'kube-controller-manager' },
      { component: 'kube-scheduler', path: '/etc/kubernetes/manifests/kube-scheduler-pod.yaml' },
    ]);
    // The administrator's is inside a kubeconfig.
    const gone = [keys.admin, keys.kubelet, keys.etcdClient].map(publicKeyFingerprint);
    t.same(ledger.goneKeys.toSorted(), gone.toSorted());
    t.notOk(ledger.goneKeys.includes(publicKeyFingerprint(keys.etcdSigner)), 'in a Secret');
  },
);
