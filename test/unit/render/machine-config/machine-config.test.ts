import t from 'tap';
import type { ImageMirror } from '../../../../lib/cluster/cluster.ts';
import { containerdHosts } from '../../../../lib/render/machine-config/containerd-hosts.ts';
import { machineConfig } from '../../../../lib/render/machine-config/machine-config.ts';
import { mirrorFiles } from '../../../../lib/render/machine-config/mirrors.ts';
import { input } from '../rendered-host.ts';
import { siteCluster } from '../site-cluster.ts';

const mirror = (source: string, ...mirrors: string[]): ImageMirror => ({
  source,
  mirrors,
  digestOnly: true,
  neverContactSource: false,
});

t.test('a site that gives nothing changes nothing', async (t) => {
  for (const host of ['live', 'installed'] as const) {
    t.same(machineConfig(input.cluster, host), { files: [], dropins: [] });
  }
});

t.test('both hosts have the same files, and only the live one the network', async (t) => {
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
  t.same(modes('installed'), both);
  t.same(modes('live'), { ...both, '/etc/sno-agents/network.yml': 0o600 });
});

t.test('the proxy in both cases, for whatever reaches outside', async (t) => {
  const { files, dropins } = machineConfig(siteCluster, 'live');
  const url = 'http://me:hunter2@proxy.example.com:3128';
  t.equal(
    files.find(({ path }) => path.endsWith('proxy.env'))?.contents,
    `HTTP_PROXY=${url}\nhttp_proxy=${url}\nNO_PROXY=.svc,127.0.0.1\nno_proxy=.svc,127.0.0.1\n`,
  );
  const units = dropins.map(({ unit }) => unit);
  for (const unit of ['containerd', 'crio', 'kubelet', 'bootkube', 'sno-coreos-installer']) {
    t.ok(units.includes(`${unit}.service`), unit);
  }
  t.same(
    new Set(dropins.map(({ contents }) => contents)),
    new Set(['[Service]\nEnvironmentFile=-/etc/sno-agents/proxy.env\n']),
  );
  t.notMatch(JSON.stringify(dropins), /hunter2/, 'everybody can read a unit');
  t.same(
    machineConfig(siteCluster, 'installed').dropins.map(({ unit }) => unit),
    ['containerd.service', 'crio.service', 'kubelet.service'],
  );
});

t.test('sources of time', async (t) => {
  const chrony = machineConfig(siteCluster, 'live').files.find(({ path }) =>
    path.endsWith('chrony.conf'),
  );
  t.match(chrony?.contents, /^server ntp1\.example\.com iburst\nserver 192\.168\.7\.1 iburst\n/);
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

t.test('containerd: the mirrors of one registry are in one file, each once', async (t) => {
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

t.test('containerd: a source that must not be asked', async (t) => {
  const never = { ...mirror('quay.io', 'm.example.com/quay'), neverContactSource: true };
  const { files, notices } = containerdHosts([never]);
  t.same(notices, []);
  t.match(
    files[0]?.contents,
    /^server = "https:\/\/m\.example\.com\/v2\/quay"\ncapabilities = \["pull"\]\noverride_path = true\n\n\[host/,
  );
  const part = { ...mirror('quay.io/a', 'm.example.com/a'), neverContactSource: true };
  t.match(containerdHosts([part]).notices, [
    'containerd asks quay.io when the mirrors of quay.io/a',
  ]);
  t.notMatch(containerdHosts([part]).files[0]?.contents, /server =/);
});
