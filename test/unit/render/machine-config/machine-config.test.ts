import t from 'tap';
import { parse } from 'yaml';
import type { ImageMirror } from '../../../../lib/config/cluster/cluster.ts';
import { containerdHosts } from '../../../../lib/render/machine-config/containerd-hosts.ts';
import { machineConfig } from '../../../../lib/render/machine-config/machine-config.ts';
import { mirrorFiles } from '../../../../lib/render/machine-config/mirrors.ts';
import { input, textAt } from '../rendered-host.ts';
import { siteCluster } from '../site-cluster.ts';

const mirror = (source: string, ...mirrors: string[]): ImageMirror => ({
  source,
  mirrors,
  digestOnly: true,
  neverContactSource: false,
});

const shutdown = {
  path: '/etc/systemd/logind.conf.d/50-sno-shutdown.conf',
  mode: 0o644,
  contents: '[Login]\nInhibitDelayMaxSec=60\n',
};

const cniResults = {
  path: '/etc/tmpfiles.d/50-sno-cni.conf',
  mode: 0o644,
  contents: 'R! /var/lib/cni/results\n',
};

/** A restart for an update would interrupt the installation. */
const updaters = ['zincati', 'rpm-ostreed-automatic'].map((name) => ({
  unit: `${name}.service`,
  name: '50-sno-after-installation.conf',
  contents: '[Unit]\nConditionPathExists=/var/lib/sno-agents/record.json\n',
}));

t.test(
  'without site configuration: the time for a shutdown, what a boot deletes, no updates meanwhile',
  async (t) => {
    t.same(machineConfig(input.cluster, 'live'), { files: [], dropins: [] });
    for (const host of ['installed', 'aio'] as const) {
      t.same(machineConfig(input.cluster, host), {
        files: [shutdown, cniResults],
        dropins: updaters,
      });
    }
    const { shutdownGracePeriod } = parse(textAt('/etc/kubernetes/kubelet.yaml'));
    t.equal(shutdownGracePeriod, '60s', 'as long as logind waits');
  },
);

t.test(
  'both hosts have the same files, and only the live host the network configuration',
  async (t) => {
    const modes = (host: 'live' | 'installed') =>
      Object.fromEntries(
        machineConfig(siteCluster, host).files.map(({ path, mode }) => [path, mode]),
      );
    const both = {
      '/etc/sno-agents/proxy.env': 0o600,
      '/etc/pki/ca-trust/source/anchors/sno-additional-trust-bundle.crt': 0o644,
      '/etc/containers/registries.conf.d/50-sno-mirrors.conf': 0o644,
      '/etc/containerd/certs.d/quay.io/hosts.toml': 0o644,
      '/etc/chrony.conf': 0o644,
    };
    t.same(modes('installed'), {
      ...both,
      [shutdown.path]: 0o644,
      [cniResults.path]: 0o644,
    });
    t.same(modes('live'), { ...both, '/etc/sno-agents/network.yml': 0o600 });
  },
);

t.test(
  'the proxy in upper and lower case, for all units that connect to the outside',
  async (t) => {
    const { files, dropins } = machineConfig(siteCluster, 'live');
    const url = 'http://me:hunter2@proxy.example.com:3128';
    t.equal(
      files.find(({ path }) => path.endsWith('proxy.env'))?.contents,
      `HTTP_PROXY=${url}\nhttp_proxy=${url}\nNO_PROXY=.svc,127.0.0.1\nno_proxy=.svc,127.0.0.1\n`,
    );
    const dropin = (unit: string) => ({
      unit: `${unit}.service`,
      name: '10-sno-proxy.conf',
      // Only the file's name: everyone can read a unit, and the URL contains a password.
      contents: '[Service]\nEnvironmentFile=-/etc/sno-agents/proxy.env\n',
    });
    const installed = ['containerd', 'crio', 'kubelet'].map(dropin);
    const live = ['bootkube', 'sno-executable', 'sno-coreos-installer'].map(dropin);
    t.same(dropins, [...installed, ...live]);
    t.same(machineConfig(siteCluster, 'installed').dropins, [...installed, ...updaters]);
  },
);

t.test('the processes of a node stay on its reserved CPUs', async (t) => {
  const cluster = { ...input.cluster, reservedCpus: '0-1' };
  const name = '10-sno-reserved-cpus.conf';
  const affinity = '[Service]\nCPUAffinity=0-1\n';
  // Not inherited by containers.
  const group = '[Service]\nAllowedCPUs=0-1\n';
  for (const host of ['installed', 'aio'] as const) {
    t.same(machineConfig(cluster, host), {
      files: [
        shutdown,
        cniResults,
        { path: `/etc/systemd/system/sno-.service.d/${name}`, mode: 0o644, contents: affinity },
      ],
      dropins: [
        { unit: 'containerd.service', name, contents: group },
        { unit: 'crio.service', name, contents: group },
        { unit: 'kubelet.service', name, contents: affinity },
        ...updaters,
      ],
    });
  }
  t.same(machineConfig(cluster, 'live'), { files: [], dropins: [] });
});

t.test('each of two proxies under its own names', async (t) => {
  const [http, https] = ['http://a.example.com:3128', 'http://b.example.com:3129'];
  const proxy = { httpProxy: http, httpsProxy: https, noProxy: ['.svc'] };
  const [file] = machineConfig({ ...input.cluster, proxy }, 'installed').files;
  t.equal(
    file?.contents,
    `HTTP_PROXY=${http}\nhttp_proxy=${http}\nHTTPS_PROXY=${https}\nhttps_proxy=${https}\nNO_PROXY=.svc\nno_proxy=.svc\n`,
  );
});

t.test('a proxy for HTTPS only, without exceptions', async (t) => {
  const proxy = { httpsProxy: 'http://proxy.example.com:3128', noProxy: [] };
  const [file] = machineConfig({ ...input.cluster, proxy }, 'installed').files;
  t.equal(
    file?.contents,
    `HTTPS_PROXY=${proxy.httpsProxy}\nhttps_proxy=${proxy.httpsProxy}\nNO_PROXY=\nno_proxy=\n`,
  );
});

t.test('certificates and the network are written as they are given', async (t) => {
  const { files } = machineConfig(siteCluster, 'live');
  const contents = (end: string) => files.find(({ path }) => path.endsWith(end))?.contents;
  t.equal(contents('trust-bundle.crt'), siteCluster.additionalTrustBundle);
  t.equal(contents('network.yml'), siteCluster.networkConfig);
});

t.test("time comes from the site's sources and DHCP, and is stepped at once", async (t) => {
  const { files } = machineConfig(siteCluster, 'live');
  t.equal(
    files.find(({ path }) => path.endsWith('chrony.conf'))?.contents,
    [
      'server ntp1.example.com iburst',
      'server 192.168.7.1 iburst',
      'sourcedir /run/chrony-dhcp',
      'driftfile /var/lib/chrony/drift',
      // A clock that is hours off is stepped in the first three updates instead of slewed for days.
      'makestep 1.0 3',
      'rtcsync',
      'logdir /var/log/chrony',
      '',
    ].join('\n'),
  );
});

t.test('mirrors for CRI-O and podman', async (t) => {
  const [conf] = mirrorFiles([
    mirror('quay.io/a', 'm.example.com/a', 'n.example.com/a'),
    { ...mirror('docker.io', 'm.example.com/hub'), digestOnly: false, neverContactSource: true },
  ]);
  t.equal(
    conf?.contents,
    `[[registry]]
location = "quay.io/a"
mirror-by-digest-only = true

[[registry.mirror]]
location = "m.example.com/a"

[[registry.mirror]]
location = "n.example.com/a"

[[registry]]
location = "docker.io"
blocked = true

[[registry.mirror]]
location = "m.example.com/hub"
`,
  );
});

t.test('a source with mirrors for digests and mirrors for tags has one table', async (t) => {
  const [conf] = mirrorFiles([
    mirror('quay.io/a', 'd.example.com/a'),
    mirror('quay.io/b', 'd.example.com/b'),
    { ...mirror('quay.io/a', 't.example.com/a'), digestOnly: false, neverContactSource: true },
  ]);
  t.equal(
    conf?.contents,
    `[[registry]]
location = "quay.io/a"
blocked = true

[[registry.mirror]]
location = "d.example.com/a"
pull-from-mirror = "digest-only"

[[registry.mirror]]
location = "t.example.com/a"
pull-from-mirror = "tag-only"

[[registry]]
location = "quay.io/b"
mirror-by-digest-only = true

[[registry.mirror]]
location = "d.example.com/b"
`,
  );
});

const ENDPOINTS: readonly (readonly [source: string, mirror: string, url: string | undefined])[] = [
  ['quay.io', 'm.example.com', 'https://m.example.com/v2'],
  ['quay.io', 'm.example.com:5000/quay', 'https://m.example.com:5000/v2/quay'],
  ['quay.io/a/b', 'm.example.com/a/b', 'https://m.example.com/v2'],
  ['quay.io/a/b', 'm.example.com/x/a/b', 'https://m.example.com/v2/x'],
  ['quay.io/a/b', 'm.example.com/xa/b', undefined],
  ['quay.io/a/b', 'm.example.com/ocp4', undefined],
  ['quay.io/a/b', 'm.example.com', undefined],
];
for (const [source, location, url] of ENDPOINTS) {
  t.test(`containerd: ${location} for ${source}`, async (t) => {
    const { files, notices } = containerdHosts([mirror(source, location)]);
    if (url === undefined) {
      t.same(files, []);
      t.match(notices, [`cannot use the mirror ${location} of ${source}`]);
      return;
    }
    t.same(notices, []);
    t.same(files, [
      {
        path: '/etc/containerd/certs.d/quay.io/hosts.toml',
        mode: 0o644,
        contents: `[host."${url}"]\ncapabilities = ["pull"]\noverride_path = true\n`,
      },
    ]);
  });
}

t.test('containerd: one file for each registry, with each mirror once', async (t) => {
  const { files } = containerdHosts([
    mirror('quay.io/a', 'm.example.com/a', 'n.example.com/a'),
    { ...mirror('quay.io/b', 'm.example.com/b'), digestOnly: false },
    mirror('docker.io', 'm.example.com'),
  ]);
  t.same(
    files.map(({ path }) => path),
    ['/etc/containerd/certs.d/quay.io/hosts.toml', '/etc/containerd/certs.d/docker.io/hosts.toml'],
  );
  const hosts = files[0]?.contents.match(/^\[host.*$/gm);
  t.same(hosts, ['[host."https://m.example.com/v2"]', '[host."https://n.example.com/v2"]']);
});

t.test('containerd: a mirror for tags can resolve them', async (t) => {
  const { files } = containerdHosts([
    { ...mirror('quay.io', 'm.example.com', 'n.example.com'), digestOnly: false },
  ]);
  t.equal(
    files[0]?.contents,
    `[host."https://m.example.com/v2"]
capabilities = ["pull","resolve"]
override_path = true

[host."https://n.example.com/v2"]
capabilities = ["pull","resolve"]
override_path = true
`,
  );
});

t.test('containerd: a mirror for digests and for tags resolves these, in any order', async (t) => {
  const digest = mirror('quay.io', 'm.example.com', 'd.example.com');
  const tag = { ...mirror('quay.io', 'm.example.com'), digestOnly: false };
  for (const both of [
    [digest, tag],
    [tag, digest],
  ]) {
    const text = containerdHosts(both).files[0]?.contents;
    t.match(text, '[host."https://m.example.com/v2"]\ncapabilities = ["pull","resolve"]\n');
    t.match(text, '[host."https://d.example.com/v2"]\ncapabilities = ["pull"]\n');
  }
  const elsewhere = [digest, tag].map((each) => ({ ...each, source: 'quay.io/a' }));
  t.equal(
    new Set(containerdHosts(elsewhere).notices).size,
    containerdHosts(elsewhere).notices.length,
  );
});

t.test('containerd: a source that must not be contacted', async (t) => {
  const never = { ...mirror('quay.io', 'm.example.com/quay'), neverContactSource: true };
  const { files, notices } = containerdHosts([never]);
  t.same(notices, []);
  const last = 'capabilities = ["pull"]\noverride_path = true\n';
  const url = 'https://m.example.com/v2/quay';
  t.equal(files[0]?.contents, `server = "${url}"\n${last}\n[host."${url}"]\n${last}`);
  const part = { ...mirror('quay.io/a', 'm.example.com/a'), neverContactSource: true };
  t.match(containerdHosts([part]).notices, [
    'containerd contacts quay.io when the mirrors of quay.io/a fail',
  ]);
  t.notMatch(containerdHosts([part]).files[0]?.contents, /server =/);
});

t.test(
  'containerd: a closed registry stays closed whatever else is configured for it',
  async (t) => {
    const closing = {
      ...mirror('quay.io', 'm.example.com', 'n.example.com'),
      neverContactSource: true,
    };
    const open = mirror('quay.io/a', 'o.example.com/a');
    for (const mirrors of [
      [closing, open],
      [open, closing],
    ]) {
      const [file] = containerdHosts(mirrors).files;
      const hosts = file?.contents.match(/^\[host.*$/gm) ?? [];
      t.equal(hosts.length, 3);
      const [server] = file?.contents.split('\n') ?? [];
      t.equal(`[host.${server?.replace('server = ', '')}]`, hosts.at(-1), 'the last mirror');
    }
  },
);
