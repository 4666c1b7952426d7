import t from 'tap';
import { installerEntries, passivePlaces } from '../../../../cli/take-over/installer-entries.ts';
import { sortEntries } from '../../../../cli/take-over/sort-entries.ts';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import { file } from './installer-ignition.ts';

/** What becomes of each file, in the words of the installer's sources. */
const FILES = {
  replaced: [
    ...'approve-csr bootkube bootstrap-cluster-gather bootstrap-in-place bootstrap-service-record'
      .split(' ')
      .map((name) => `/usr/local/bin/${name}.sh`),
    ...'bootstrap-verify-api-server-urls crio-configure install-to-disk installer-gather'
      .split(' ')
      .map((name) => `/usr/local/bin/${name}.sh`),
    ...'installer-masters-gather kubelet kubelet-pause-image release-image-download report-progress'
      .split(' ')
      .map((name) => `/usr/local/bin/${name}.sh`),
    '/etc/motd',
    '/opt/openshift/bootstrap-in-place/a',
  ],
  dropped: ['/usr/local/bin/wait-for-ha-api.sh'],
  kept: [
    '/usr/local/bin/node-image-overlay.sh',
    '/usr/local/bin/node-image-pull.sh',
    '/usr/local/bin/release-image.sh',
    '/etc/systemd/system-generators/node-image-overlay-generator',
    ...['finish.service', 'overlay.service', 'overlay.target', 'pull.service'].map(
      (name) => `/etc/systemd/system/node-image-${name}`,
    ),
    '/etc/systemd/system/var-ostree\\x2dcontainer.mount',
    '/etc/systemd/system/var-ostreecontainer.mount',
    '/etc/systemd/system.conf.d/10-default-env.conf',
    '/etc/systemd/system.conf.d/10-default-env-godebug.conf',
    '/etc/systemd/system.conf.d/kubelet-cgroups.conf',
    '/etc/profile.d/proxy.sh',
    '/etc/containers/registries.conf',
    '/etc/pki/ca-trust/source/anchors/ca.crt',
    '/etc/ignition-machine-config-encapsulated.json',
    '/root/.docker/config.json',
    '/opt/openshift/manifests/a',
    '/opt/openshift/openshift/a',
    '/opt/openshift/tls/a',
    '/opt/openshift/auth/a',
    '/opt/openshift/original_cvo_overrides.patch',
  ],
} as const;
const UNITS = {
  replaced: [
    ...['approve-csr', 'bootkube', 'crio-configure', 'install-to-disk'],
    ...['kubelet', 'progress', 'release-image'],
  ].map((name) => `${name}.service`),
  dropped: ['chown-gatewayd-key.service', 'systemd-journal-gatewayd.socket'],
  kept: ['restart-sshd.service'],
} as const;
const DROPINS = {
  replaced: [],
  dropped: ['systemd-journal-gatewayd.service.d/certs.conf'],
  kept: [
    'var-ostreecontainer.mount.d/10-architecture.conf',
    'zincati.service.d/okd-machine-os-disabled.conf',
  ],
} as const;
const FATES = ['replaced', 'dropped', 'kept'] as const;

const configOf = (
  paths: readonly string[],
  units: NonNullable<IgnitionConfig['systemd']> = {},
): IgnitionConfig => ({
  ignition: { version: '3.2.0' },
  storage: { files: paths.map((path) => file(path, 'x')) },
  systemd: units,
});
const asUnit = (name: string) => ({ name, contents: '[Unit]\n' });
const asDropin = (at: string) => {
  const [name = '', dropin = ''] = at.split('.d/');
  return { name, dropins: [{ name: dropin, contents: '' }] };
};

t.test('each entry of the installer has its fate, and the reason is said', async (t) => {
  const { kept, entries, unknown, missing } = sortEntries(
    configOf(
      FATES.flatMap((fate) => [...FILES[fate]]),
      {
        units: FATES.flatMap((fate) => [
          ...UNITS[fate].map(asUnit),
          ...DROPINS[fate].map(asDropin),
        ]),
      },
    ),
    new Set(),
  );
  t.same(unknown, []);
  t.same(missing, []);
  for (const fate of FATES) {
    const names = entries.filter((entry) => entry.fate === fate).map(({ at }) => at);
    t.same(names.toSorted(), [...FILES[fate], ...UNITS[fate], ...DROPINS[fate]].toSorted(), fate);
  }
  for (const { at, why, isKnown } of entries) t.ok(why.length > 3 && isKnown, `${at}: ${why}`);
  t.same(
    kept.storage?.files?.map(({ path }) => path),
    FILES.kept,
  );
  t.same(kept.systemd?.units, [...UNITS.kept.map(asUnit), ...DROPINS.kept.map(asDropin)]);
});

t.test('no entry of the table is without a test', async (t) => {
  const pivot = ['/usr/local/bin/bootstrap-pivot.sh', 'release-image-pivot.service'];
  const tested = [FILES, UNITS, DROPINS].flatMap((each) =>
    FATES.flatMap((fate) => [...each[fate]]),
  );
  t.same(
    installerEntries.map(({ at }) => at).toSorted(),
    [...tested.map((at) => at.replace(/\/a$/, '/')), ...pivot].toSorted(),
  );
});

t.test('what only OKD uses is known without contents only', async (t) => {
  const path = '/usr/local/bin/bootstrap-pivot.sh';
  const name = 'release-image-pivot.service';
  const of = (text: string): IgnitionConfig => ({
    ...configOf([], { units: [{ name, contents: text }] }),
    storage: { files: [file(path, text)] },
  });
  t.match(sortEntries(of('\n'), new Set()), {
    unknown: [],
    entries: [
      { at: path, fate: 'dropped' },
      { at: name, fate: 'dropped' },
    ],
  });
  t.same(sortEntries(of('x'), new Set()).unknown, [path, name]);
});

t.test('release-image.sh is kept for node-image-pull.sh only', async (t) => {
  const path = '/usr/local/bin/release-image.sh';
  const { entries, kept } = sortEntries(configOf([path]), new Set());
  t.match(entries, [{ at: path, fate: 'dropped', why: /nothing needs it/ }]);
  t.same(kept.storage?.files, []);
});

t.test('the required entries are those without which the agents cannot work', async (t) => {
  t.same(sortEntries(configOf([]), new Set()).missing.toSorted(), [
    '/root/.docker/config.json',
    '/usr/local/bin/bootkube.sh',
    '/usr/local/bin/install-to-disk.sh',
    '/usr/local/bin/release-image-download.sh',
    'bootkube.service',
    'install-to-disk.service',
  ]);
});

t.test('configuration that starts nothing is kept, and said to be unknown', async (t) => {
  const paths = [
    '/etc/NetworkManager/conf.d/a.conf',
    '/etc/NetworkManager/system-connections/a.nmconnection',
    '/etc/chrony.conf',
    '/etc/chrony.d/a.conf',
    '/etc/containers/policy.json',
    '/etc/containers/registries.conf.d/a.conf',
    '/etc/containers/registries.d/a.yaml',
    '/etc/hostname',
    '/etc/hosts',
    '/etc/issue.d/a.issue',
    '/etc/motd.d/a',
    '/etc/pki/ca-trust/source/anchors/a.crt',
    '/etc/resolv.conf',
    '/etc/ssh/sshd_config.d/a.conf',
    '/etc/sysctl.d/a.conf',
  ];
  const { entries, unknown } = sortEntries(configOf(paths), new Set());
  t.same(unknown, []);
  t.same(
    entries.map(({ at, fate, isKnown }) => ({ at, fate, isKnown })),
    paths.map((at) => ({ at, fate: 'kept', isKnown: false })),
  );
  t.equal(passivePlaces.length, paths.length, 'and no other place');
});

t.test('folders count with what is in them, and beside them nothing does', async (t) => {
  const config = configOf(['/etc/chrony.confx', '/opt/openshift/tlsx']);
  const directories = [{ path: '/opt/openshift/tls' }, { path: '/opt/openshift' }];
  const { entries, unknown } = sortEntries(
    { ...config, storage: { ...config.storage, directories } },
    new Set(),
  );
  t.same(unknown, ['/opt/openshift', '/etc/chrony.confx', '/opt/openshift/tlsx']);
  t.match(entries, [{ at: '/opt/openshift/tls', fate: 'kept' }]);
});
