import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { clusterSchema } from '../../../../lib/config/cluster/cluster.ts';
import { liveUnits } from '../../../../units/live.ts';
import { refusals } from './bad-ignitions.ts';
import {
  CLUSTER_ID,
  file,
  INSTALL_CONFIG,
  installerIgnition,
  MACHINE_CONFIG,
  PULL_SECRET,
  RELEASE,
} from './installer-ignition.ts';
import { contents, IGNITION, read, takeOver } from './taking-over.ts';

const VALIDATOR = '/usr/bin/ignition-validate';
const METADATA = { clusterName: 'sno', clusterID: CLUSTER_ID, infraID: 'sno-qkgrs' };
const URL_OF_WORKERS = 'https://api-int.sno.example.net:22623/config/worker';

for (const version of ['4.14', '4.19', '4.21'] as const) {
  t.test(`what the installer of ${version} writes is understood`, async (t) => {
    const taken = await takeOver(t, await installerIgnition(version));
    t.notMatch(taken.err, /^(?!Notice: )./m, 'nothing but notices');
    t.equal(taken.code, 0);
    t.match(taken.out, `Control plane: OpenShift ${version}, from the release image ${RELEASE}`);
    t.notMatch(taken.out, 'Not understood');
    t.match(taken.err.split('\n').at(-1), /experimental: .* only hosts that you can lose/);
    const config = await read(taken);

    const scripts = (config.storage?.files ?? []).filter(({ path }) => path.endsWith('.sh'));
    t.same(
      scripts.map(({ path }) => path).toSorted(),
      version === '4.14'
        ? ['/etc/profile.d/proxy.sh']
        : [
            '/etc/profile.d/proxy.sh',
            '/usr/local/bin/node-image-overlay.sh',
            '/usr/local/bin/node-image-pull.sh',
            '/usr/local/bin/release-image.sh',
          ],
      'no other shell is left',
    );
    const units = new Map(config.systemd?.units?.map((unit) => [unit.name, unit]));
    for (const { name, contents, enabled } of liveUnits) {
      t.match(units.get(name), { contents, enabled }, `${name} is the agents'`);
    }
    const left = [...units.keys()].filter((name) => !liveUnits.some((unit) => unit.name === name));
    t.same(left.toSorted(), [
      'reboot.target',
      ...(version === '4.21' ? ['restart-sshd.service', 'var-ostreecontainer.mount'] : []),
      'zincati.service',
    ]);
  });
}

t.test('the assets stay, private, and the agents get their description', async (t) => {
  const source = await installerIgnition('4.19');
  const taken = await takeOver(t, source, {
    own: { 'openshift/99-mine.yaml': 'kind: MachineConfig\n' },
  });
  t.same(taken.left, ['.sno.log', IGNITION, 'openshift']);
  t.equal((await stat(join(taken.dir, IGNITION))).mode & 0o777, 0o600);
  const config = await read(taken);
  const assets = (config.storage?.files ?? []).filter(({ path }) => path.startsWith('/opt/'));
  t.same([...new Set(assets.map(({ mode }) => mode))], [0o600]);
  for (const { path } of source.storage?.files ?? []) {
    const isRenewed = /kubelet-signer\.crt$|kubelet-client-ca-bundle/.test(path);
    if (!/^\/opt\/openshift\/(manifests|openshift|tls|auth)\//.test(path)) continue;
    const same = contents(config, path) === contents(source, path);
    t.equal(same, !isRenewed, `${path} ${isRenewed ? 'is signed again' : 'is unchanged'}`);
  }
  t.equal(
    contents(config, '/opt/openshift/openshift/99_openshift-machineconfig_99-master-realtime.yaml'),
    MACHINE_CONFIG,
  );
  t.equal(contents(config, '/opt/openshift/openshift/99-mine.yaml'), 'kind: MachineConfig\n');
  t.equal(contents(config, '/var/lib/kubelet/config.json'), PULL_SECRET);
  t.same(config.passwd?.users, source.passwd?.users);
  t.same(
    config.storage?.directories?.filter(({ path }) => /tls|auth|docker/.test(path)),
    [
      { path: '/opt/openshift/auth', mode: 0o700 },
      { path: '/opt/openshift/tls', mode: 0o700 },
      { path: '/root/.docker', mode: 0o700 },
    ],
  );
  t.match(clusterSchema.parse(JSON.parse(contents(config, '/etc/sno-agents/cluster.json'))), {
    controlPlane: 'openshift',
    openshift: {
      releaseImage: RELEASE,
      version: '4.19',
      clusterId: CLUSTER_ID,
      infrastructureName: 'sno-qkgrs',
      platform: 'none',
    },
    name: 'sno',
    baseDomain: 'example.net',
    machineNetwork: ['192.168.126.0/24'],
    installation: { disk: '/dev/disk/by-id/wwn-0x1', existingSystem: 'refuse' },
    sshKeys: [INSTALL_CONFIG.sshKey],
  });
  const dropins = new Map(config.systemd?.units?.map(({ name, dropins }) => [name, dropins]));
  t.match(
    dropins.get('kubelet.service')?.[0]?.contents,
    /\nExecStart=\nExecStart=\/usr\/bin\/kubelet /,
  );
  const bootkube = dropins.get('bootkube.service')?.[0]?.contents ?? '';
  t.match(bootkube, /After=crio\.service/);
  const opened = /^ReadWritePaths=(.*)$/m.exec(bootkube)?.[1]?.split(' ') ?? [];
  t.same(
    opened.map((path) => config.storage?.directories?.find((each) => each.path === path)),
    ['/etc/mcc', '/etc/mcs', '/etc/ssl/mcs'].map((path) => ({ path, mode: 0o700 })),
    'the sandbox opens folders that exist',
  );
  if (existsSync(VALIDATOR)) await execa(VALIDATOR, [join(taken.dir, IGNITION)]);
});

t.test('the kubelet signer is valid for as long as the host may be shipped', async (t) => {
  const source = await installerIgnition('4.19');
  const { out } = await takeOver(t, source, { args: ['--shipping-days', '90'] });
  const until = new Date(Date.now() + 91 * 86_400_000).toISOString().slice(0, 10);
  t.match(
    out,
    new RegExp(
      `signed again[^\\n]*\\n  ${until}T.*kubelet-signer, in kubelet-signer.crt and in 1 other file`,
    ),
  );
  const soon = await takeOver(t, source);
  t.match(soon.out, new Date(Date.now() + 31 * 86_400_000).toISOString().slice(0, 10), 'a month');
});

t.test('what the installer wrote beside it is checked and copied', async (t) => {
  const source = await installerIgnition('4.19');
  const rootCa = contents(source, '/opt/openshift/tls/root-ca.crt');
  const beside = {
    'metadata.json': JSON.stringify({ ...METADATA, featureSet: '' }),
    'worker.ign': JSON.stringify({
      ignition: {
        version: '3.2.0',
        config: { merge: [{ source: URL_OF_WORKERS }] },
        security: {
          tls: {
            certificateAuthorities: [
              { source: `data:;base64,${Buffer.from(rootCa).toString('base64')}` },
            ],
          },
        },
      },
    }),
    'auth/kubeconfig': 'server: https://api.sno.example.net:6443\n',
    'auth/kubeadmin-password': 'secret',
  };
  const taken = await takeOver(t, source, { beside });
  t.notMatch(taken.err, /^(?!Notice: )./m, 'nothing but notices');
  for (const [path, text] of Object.entries(beside)) {
    t.equal(await readFile(join(taken.dir, path), 'utf8'), text);
    t.equal((await stat(join(taken.dir, path))).mode & 0o777, 0o600);
  }
  t.notMatch(taken.err, /Notice: not beside/);
  for (const path of Object.keys(beside)) t.match(taken.out, `Copied ${join(taken.dir, path)}`);
});

const APPROVER = '/opt/openshift/openshift/99_machine-approver-config.yaml';

t.test('the machine approver decides nothing that the agents decide', async (t) => {
  const source = await installerIgnition('4.19');
  const taken = await takeOver(t, source);
  t.match(contents(await read(taken), APPROVER), /nodeClientCert:\s+disabled: true/);
  t.match(taken.out, /^Added, .*:\n {2}openshift\/99_machine-approver-namespace\.yaml\n/m);
  const own = 'metadata: {name: machine-approver-config}\nkind: ConfigMap\n';
  const decided = await takeOver(t, source, { own: { 'openshift/99-mine.yaml': own } });
  t.notOk(
    (await read(decided)).storage?.files?.some(({ path }) => path === APPROVER),
    'unless somebody has configured it',
  );
  t.notMatch(decided.out, /^Added/m);
});

t.test('an installer that was built with its version says so itself', async (t) => {
  const source = await installerIgnition('4.19');
  const path = '/opt/openshift/openshift/openshift-install-manifests.yaml';
  const { files = [] } = source.storage ?? {};
  const version = '{"kind":"ConfigMap","data":{"version":"v4.20.3"}}';
  files.splice(
    files.findIndex((each) => each.path === path),
    1,
    file(path, version),
  );
  t.match((await takeOver(t, source)).out, 'Control plane: OpenShift 4.20');
});

t.test('what was replaced is listed by reason', async (t) => {
  const { out } = await takeOver(t, await installerIgnition('4.19'));
  const lines = new Map(
    out
      .split('\n')
      .map((line) => line.split(': '))
      .map(([a = '', b]) => [a, b]),
  );
  t.same(lines.get('  the agent gather')?.split(', '), [
    '/usr/local/bin/bootstrap-cluster-gather.sh',
    '/usr/local/bin/installer-gather.sh',
    '/usr/local/bin/installer-masters-gather.sh',
  ]);
  t.equal(lines.get('  manifests of the cluster'), '6 files');
  const heads = out.split('\n').filter((line) => /^\S.*[:,]$/.test(line));
  t.same(heads.slice(0, 3), ['Replaced by:', 'Dropped, because:', 'Kept:']);
});

t.test('additions that start nothing are kept, others only by request', async (t) => {
  const source = await installerIgnition('4.19');
  source.storage?.files?.push(
    file('/etc/chrony.conf', 'pool ntp\n'),
    file('/usr/local/bin/mine.sh', 'x'),
  );
  source.systemd?.units?.push({
    name: 'mine.service',
    contents: '[Service]\n',
    dropins: [{ name: 'a.conf', contents: '' }],
  });
  source.systemd?.units?.push({
    name: 'crio.service',
    dropins: [{ name: 'b.conf', contents: '' }],
  });
  const kubelet = source.systemd?.units?.find(({ name }) => name === 'kubelet.service');
  Object.assign(kubelet ?? {}, { dropins: [{ name: '10-mine.conf', contents: '[Unit]\n' }] });
  const dropins = [
    'mine.service.d/a.conf',
    'crio.service.d/b.conf',
    'kubelet.service.d/10-mine.conf',
  ];
  const keep = ['/usr/local/bin/mine.sh', 'mine.service', ...dropins];
  const taken = await takeOver(t, source, { args: keep.flatMap((name) => ['--keep', name]) });
  t.notMatch(taken.err, /^(?!Notice: )./m, 'nothing but notices');
  const notUnderstood = taken.out.slice(taken.out.indexOf('Not understood, and kept:\n'));
  t.match(notUnderstood, '  /etc/chrony.conf: not written by the installer');
  for (const name of keep) t.match(notUnderstood, `  ${name}: unknown; kept by --keep`);
  const config = await read(taken);
  t.equal(contents(config, '/etc/chrony.conf'), 'pool ntp\n');
  t.equal(contents(config, '/usr/local/bin/mine.sh'), 'x');
  const units = new Map(config.systemd?.units?.map((unit) => [unit.name, unit]));
  t.match(units.get('mine.service'), { contents: '[Service]\n', dropins: [{ name: 'a.conf' }] });
  t.match(units.get('crio.service'), { contents: undefined, dropins: [{ name: 'b.conf' }] });
  t.same(
    units.get('kubelet.service')?.dropins?.map(({ name }) => name),
    ['10-mine.conf', '10-openshift.conf'],
  );
  t.match(units.get('kubelet.service')?.contents, 'Kubelet of the live stage', "the agents' unit");
});

for (const { name, change, text, says, ...given } of refusals) {
  t.test(`refused: ${name}`, async (t) => {
    const config = await installerIgnition('4.19');
    change?.(config);
    const { code, err, out, left } = await takeOver(t, text ?? config, given);
    t.equal(code, 2);
    t.match(err, says);
    t.match(err, /nothing was written/i);
    t.equal(out, '');
    const own = Object.keys(given.own ?? {}).map((path) => path.split('/')[0]);
    t.same(left, own, 'nothing is written');
  });
}
