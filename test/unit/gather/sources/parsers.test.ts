import t from 'tap';
import { withoutCredentials } from '../../../../agents/gather/sources/agents.ts';
import { isTaken } from '../../../../agents/gather/sources/assets.ts';
import { parseBoots } from '../../../../agents/gather/sources/boots.ts';
import { parseDf } from '../../../../agents/gather/sources/disks.ts';
import { readableRecord } from '../../../../agents/gather/sources/journal.ts';
import { wantedBoots } from '../../../../agents/gather/sources/journals.ts';
import { isPublic } from '../../../../agents/gather/sources/static-pods.ts';
import { logName, parseUnits, selectUnits } from '../../../../agents/gather/sources/units.ts';

const id = (digit: string) => digit.repeat(32);

t.test('boots, as each systemd lists them', async (t) => {
  const first = Date.parse('2026-03-01T10:00:00Z') * 1000;
  const last = Date.parse('2026-03-01T11:30:00Z') * 1000;
  const newer = { index: 0, boot_id: id('b'), first_entry: last, last_entry: last };
  const older = { index: -1, boot_id: id('a'), first_entry: first, last_entry: last };
  const cases = {
    'JSON, oldest first': `${JSON.stringify([older, newer])}\n`,
    'a table without a header':
      `-1 ${id('a')} Sun 2026-03-01 10:00:00 UTC—Sun 2026-03-01 11:30:00 UTC\n` +
      ` 0 ${id('b')} Sun 2026-03-01 11:30:00 UTC—Sun 2026-03-01 11:30:00 UTC\n`,
    'a table with a header':
      'IDX BOOT ID                          FIRST ENTRY                 LAST ENTRY\n' +
      ` -1 ${id('a')} Sun 2026-03-01 10:00:00 UTC Sun 2026-03-01 11:30:00 UTC\n` +
      `  0 ${id('b')} Sun 2026-03-01 11:30:00 UTC Sun 2026-03-01 11:30:00 UTC\n`,
  };
  for (const [name, text] of Object.entries(cases)) {
    t.strictSame(parseBoots(text), [newer, older], name);
  }
  for (const nothing of ['', 'No journal files were found.\n', '[', '[{"index":"0"}]', '{}']) {
    t.strictSame(parseBoots(nothing), [], JSON.stringify(nothing));
  }
});

t.test(
  'boots before this one, the newest first, those that ended too early left out',
  async (t) => {
    const boot = (index: number, endedMs?: number) => ({
      index,
      boot_id: id('0'),
      ...(endedMs === undefined ? {} : { last_entry: endedMs * 1000 }),
    });
    const boots = [boot(-2, 2000), boot(0, 4000), boot(-3, 1000), boot(-1, 3000), boot(-4)];
    const indexes = (sinceMs?: number) =>
      wantedBoots(boots, sinceMs === undefined ? {} : { sinceMs }).map(({ index }) => index);
    t.strictSame(indexes(), [-1, -2, -3, -4]);
    t.strictSame(indexes(2000), [-1, -2, -4], 'one without a time may be new enough');
    const many = Array.from({ length: 500 }, (_, at) => boot(-at));
    t.equal(wantedBoots(many, {}).length, 32);
  },
);

t.test('units, as systemctl lists them', async (t) => {
  const text = [
    'bootkube.service        loaded    failed   failed  Bootstrap the control plane',
    '● kubelet.service       loaded    active   running Kubelet',
    'crio.service            not-found inactive dead    crio.service',
    'dev-disk-by\\x2dlabel.device loaded active plugged A disk',
    '-.mount                 loaded    active   mounted Root Mount',
    '',
    '3 loaded units listed.',
    '--output=x.service      loaded    failed   failed  An option, not a unit',
  ].join('\n');
  t.strictSame(parseUnits(text), [
    { name: 'bootkube.service', isFailed: true },
    { name: 'kubelet.service', isFailed: false },
    { name: 'dev-disk-by\\x2dlabel.device', isFailed: false },
  ]);
});

t.test('journals of existing named units, of our own, and of all failed ones', async (t) => {
  const loaded = [
    { name: 'kubelet.service', isFailed: false },
    { name: 'cups.service', isFailed: false },
    { name: 'var-lib.mount', isFailed: true },
  ];
  const logged = [
    'sno-restore.service',
    'bootkube.service',
    'ignition-files.service',
    'x/../y',
    '',
  ];
  t.strictSame(selectUnits(loaded, logged), [
    'bootkube.service',
    'ignition-files.service',
    'kubelet.service',
    'sno-restore.service',
    'var-lib.mount',
  ]);
  const all = selectUnits([], []);
  t.ok(all.includes('bootkube.service'), 'without an answer of systemd, all that have a name');
  t.strictSame(['bootkube.service', 'var-lib.mount'].map(logName), ['bootkube', 'var-lib.mount']);
});

t.test('file systems that can fill up', async (t) => {
  const text = [
    'Filesystem           Type       1B-blocks     Avail  Inodes  IFree Mounted on',
    '/dev/sda4            xfs      10000000000 500000000 5000000 400000 /sysroot',
    '//server/a share     cifs         1000000        10       -      - /mnt/with space',
    'efi                  vfat          500000    400000       0      0 /boot/efi',
    '/dev/sr0             iso9660      1000000         0       0      0 /run/media/iso',
    'composefs            overlay      7000000         0       1      0 /',
    'shm                  tmpfs       67108864  67108864  999999 999998 /run/containerd/io.containerd.grpc.v1.cri/sandboxes/abc/shm',
    'tmpfs                tmpfs       67108864  67108864  999999 999998 /var/lib/kubelet/pods/1/volumes/x',
    'df: /mnt/x: Permission denied',
  ].join('\n');
  const places = [
    { folder: '/var/lib/kubelet', source: '/dev/sda4', target: '/var' },
    { folder: '/var/lib/etcd', source: 'efi', target: '/var/lib/etcd' },
  ];
  t.strictSame(parseDf(text, places), [
    {
      target: '/sysroot',
      source: '/dev/sda4',
      type: 'xfs',
      sizeBytes: 10_000_000_000,
      availableBytes: 500_000_000,
      files: 5_000_000,
      filesFree: 400_000,
      writes: ['/var/lib/kubelet'],
    },
    {
      target: '/mnt/with space',
      source: '//server/a share',
      type: 'cifs',
      sizeBytes: 1_000_000,
      availableBytes: 10,
      files: 0,
      filesFree: 0,
      writes: [],
    },
    {
      target: '/boot/efi',
      source: 'efi',
      type: 'vfat',
      sizeBytes: 500_000,
      availableBytes: 400_000,
      files: 0,
      filesFree: 0,
      writes: [],
    },
  ]);
});

t.test('journal entries become text, whatever they contain', async (t) => {
  const message = '\u001b[31mpassword=geheim\u001b[0m';
  const cases: [name: string, entry: unknown, expected: string][] = [
    ['texts', { MESSAGE: 'a', __CURSOR: 's=1' }, '{"MESSAGE":"a"}\n'],
    [
      'bytes, where a character is not printable',
      { MESSAGE: [...Buffer.from(message)] },
      `${JSON.stringify({ MESSAGE: message })}\n`,
    ],
    ['a field twice', { MESSAGE: ['a', 'b'] }, '{"MESSAGE":"b"}\n'],
    ['bytes twice', { MESSAGE: [[97], [98]] }, '{"MESSAGE":"b"}\n'],
    ['nothing', { MESSAGE: null, PRIORITY: '3' }, '{"PRIORITY":"3"}\n'],
    ['no object', [1, 2], ''],
  ];
  for (const [name, entry, expected] of cases) {
    t.equal(readableRecord(JSON.stringify(entry)), expected, name);
  }
  t.equal(readableRecord('{"MESSAGE":"cut'), '');
});

t.test('only files that reveal no secret are hashed', async (t) => {
  const expected = {
    'manifests/kube-apiserver-pod.yaml': true,
    'manifests/token-exchanger.yaml': true,
    'pki/kube-apiserver/serving.crt': true,
    'static-pod-resources/etcd-certs/secrets/etcd-all-certs/etcd-peer.crt': true,
    'kubelet.yaml': true,
    'static-pod-resources/x/secrets/aggregator/config.yaml': false,
    'kube-apiserver/encryption-config.yaml': false,
    'pki/ca/ca.key': false,
    kubeconfig: false,
    'scheduler.kubeconfig': false,
    'bootstrap-secrets/kubeconfig.yaml': false,
    'pki/kubelet.pem': false,
    token: false,
  };
  for (const [name, isHashed] of Object.entries(expected)) t.equal(isPublic(name), isHashed, name);
});

t.test('rendered assets are text without credentials', async (t) => {
  const expected = {
    'manifests/cluster-network-02-config.yml': true,
    'rendered-manifests/01-namespace.yaml': true,
    'openshift/99-a.json': true,
    '.bootkube.done': true,
    'etcd-snapshot.json': true,
    'rendered.json': false,
    'master.ign': false,
    'original-master.ign': false,
    'manifests/openshift-config-secret-pull-secret.yaml': false,
    'manifests/kubeadmin-password.yaml': false,
    'tls/root-ca.crt': false,
    'auth/kubeconfig-loopback.yaml': false,
    'kubelet-identity/a.json': false,
    'gather/resources/pods.json': false,
    'etcd-snapshot.db': false,
    'log-bundle-bootstrap.tar.gz': false,
    'manifests/ca.key': false,
    'unknown.bin': false,
    'manifests/a\u202eb.yaml': false,
    'manifests/a\nb.yaml': false,
  };
  for (const [name, taken] of Object.entries(expected)) t.equal(isTaken(name), taken, name);
});

t.test('credentials in cluster.json are left out and named', async (t) => {
  t.strictSame(
    withoutCredentials({
      name: 'sno',
      proxy: { httpProxy: 'http://user:p@ss@proxy.example.test:3128', noProxy: ['a'] },
      payloadUrl: 'https://files.example.test/payload?X-Signature=abc',
      sshKeys: ['ssh-ed25519 AAAA'],
      networkConfig: 'psk: geheim',
      pullSecret: '{"auths":{}}',
    }),
    {
      name: 'sno',
      proxy: { httpProxy: 'http://<redacted>@proxy.example.test:3128', noProxy: ['a'] },
      payloadUrl: 'https://files.example.test/payload?<redacted>',
      leftOut: ['sshKeys', 'networkConfig', 'pullSecret'],
    },
  );
  t.strictSame(withoutCredentials('text'), {});
});
