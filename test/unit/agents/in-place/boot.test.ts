/** What sno-in-place does before the bootstrap begins. */
import { mkdirSync, readdirSync } from 'node:fs';
import t from 'tap';
import { fetchBundle } from '../../../../agents/in-place/bundle.ts';
import { inPlaceHost } from '../../../../agents/in-place/context.ts';
import { coverFolders } from '../../../../agents/in-place/cover-folders.ts';
import { memory } from '../../../../agents/in-place/memory.ts';
import { openBundle } from '../../../../agents/in-place/open.ts';
import { startUnits } from '../../../../agents/in-place/start.ts';
import { MEMORY_FOLDERS } from '../../../../lib/cluster/installation/in-place/places.ts';
import { testHost } from '../host/host.ts';
import { bootingHost, bundleOf, DISK, FOLDER, liveConfig, URL } from './in-place-host.ts';

const bundle = await bundleOf(liveConfig);
const other = await bundleOf(liveConfig);

t.test('memory is judged before anything is written', async (t) => {
  const { it, run } = bootingHost(t, bundle, { settings: { minFreeMemoryMiB: 2048 } });
  const before = readdirSync(it.root, { recursive: true });
  it.write('/proc/meminfo', 'MemTotal:  9999999 kB\nMemAvailable:  2097151 kB\n');
  await t.rejects(run(memory), {
    kind: 'fatal',
    code: 'preflight-memory',
    message: /expected 2048 MiB of free memory; found 2047 MiB\. Nothing was written/,
  });
  it.write('/proc/meminfo', 'MemTotal:  9999999 kB\nMemAvailable:  2097152 kB\n');
  t.match(await run(memory), { note: '2048 MiB are free' });
  const after = readdirSync(it.root, { recursive: true });
  t.same(
    after.filter((path) => !`${path}`.startsWith('proc')),
    before,
  );
});

t.test('folders are covered, and the disk stays visible elsewhere', async (t) => {
  const { it, run, holds } = bootingHost(t, bundle);
  const mounts = it.at('/proc/self/mountinfo');
  it.write(
    '/proc/self/mountinfo',
    [
      `1 0 8:1 / ${it.root} rw shared:1 - ext4 /dev/vda4 rw`,
      `2 1 8:2 / ${it.at('/var')} rw shared:2 - ext4 /dev/vda4 rw`,
      `3 1 0:3 / ${it.at('/run')} rw shared:3 - tmpfs tmpfs rw`,
      '',
    ].join('\n'),
  );
  mkdirSync(it.at('/var'), { recursive: true });
  // The place is the last argument, the type follows -t.
  it.programs.give(
    'mount',
    `type=ext4; [ "$1" = -t ] && type=$2; [ "$1" = --rbind ] && type=tmpfs
for place; do :; done
[ -d "$place" ] || mkdir -p "$place"
case "$place" in */run/sno-agents/disk) mkdir -p "$place/etc" ;; esac
echo "9 1 0:9 / $place rw - $type x rw" >> '${mounts}'`,
  );
  t.equal(await holds(coverFolders), false);
  await run(coverFolders);
  t.equal(await holds(coverFolders), true);
  const calls = it.programs.calls('mount').map((call) => call.replaceAll(it.root, ''));
  t.same(calls.slice(0, 3), [
    `mount --bind --make-private  ${DISK}`,
    `mount --bind --make-private /var ${DISK}/var`,
    'mount -t ramfs -o mode=0755,nosuid,nodev sno-in-place:/etc/kubernetes /etc/kubernetes',
  ]);
  const keys = MEMORY_FOLDERS.filter(({ type }) => type === 'ramfs').map(({ path }) => path);
  for (const folder of ['/opt/openshift', '/etc/kubernetes', '/var/lib/kubelet/pki'])
    t.ok(keys.includes(folder), `${folder} is never swapped`);
  const state = calls.findIndex((call) => call.endsWith('/run/sno-agents/covered'));
  t.same(
    calls.slice(state + 1, state + 5),
    [
      ...['bin', 'payload', 'sno-in-place'].map(
        (name) => `mount --bind ${DISK}/var/lib/sno-agents/${name} /run/sno-agents/covered/${name}`,
      ),
      'mount --rbind /run/sno-agents/covered /var/lib/sno-agents',
    ],
    'the executable is never hidden',
  );
  it.programs.forgetCalls();
  await run(coverFolders);
  t.same(it.programs.calls('mount'), [], 'once');
});

t.test('the bundle', async (t) => {
  const curl = (contents: string) => `while [ $# -gt 0 ]; do
  [ "$1" = --output ] && cp ${contents} "$2"
  shift
done`;

  t.test('is fetched once, and kept encrypted', async (t) => {
    const { it, run, holds } = bootingHost(t, bundle);
    it.write('/served', bundle.bytes);
    it.programs.give('prlimit', curl(it.at('/served')));
    t.equal(await holds(fetchBundle), false);
    await run(fetchBundle);
    t.equal(await holds(fetchBundle), true, 'and not asked for again');
    t.match(it.read(`${FOLDER}/bundle.age`), /^age-encryption\.org\/v1/);
    t.notMatch(it.read(`${FOLDER}/bundle.age`), 'the key of a CA');
  });

  t.test('is on the medium, where no URL is given', async (t) => {
    const { it, host } = bootingHost(t, bundle);
    const { url: _, ...onMedium } = host.cluster.bundle;
    const given = { ...host, cluster: { ...host.cluster, bundle: onMedium } };
    await t.rejects(fetchBundle.run(given, it.progress()), {
      kind: 'retry',
      code: 'bundle-gone',
      message: /\/run\/media\/iso\/sno-agents\/in-place\.bundle.*Connect the medium/s,
    });
    it.write('/run/media/iso/sno-agents/in-place.bundle', other.bytes);
    await t.rejects(fetchBundle.run(given, it.progress()), { code: 'bundle-mismatch' });
    it.write('/run/media/iso/sno-agents/in-place.bundle', bundle.bytes);
    await fetchBundle.run(given, it.progress());
    t.equal(await fetchBundle.holds(given, it.progress()), true);
    t.same(it.programs.calls('prlimit'), [], 'nobody is asked');
  });

  t.test('another one is refused, and not kept', async (t) => {
    const { it, run } = bootingHost(t, bundle);
    it.write('/served', other.bytes);
    it.programs.give('prlimit', curl(it.at('/served')));
    await t.rejects(run(fetchBundle), { kind: 'fatal', code: 'bundle-mismatch' });
    t.notOk(it.has(`${FOLDER}/bundle.age`));
    t.notOk(it.has(`${FOLDER}/bundle.age.partial`));
  });

  t.test('that is gone is said with what to do, without its URL', async (t) => {
    const { it, run } = bootingHost(t, bundle);
    it.programs.give('prlimit', 'echo "curl: (22) error: 404" >&2; printf 404; exit 22');
    const failure = await run(fetchBundle).catch((error: unknown) => error);
    t.match(failure, {
      kind: 'fatal',
      code: 'bundle-gone',
      message: /systemctl restart sno-in-place\.service/,
    });
    t.notMatch(`${failure}`, URL);
  });

  t.test('an interruption after the only answer of its URL loses nothing', async (t) => {
    const { it, run, holds } = bootingHost(t, bundle);
    it.programs.give('prlimit', `printf '404 000 %s' ${URL}; exit 22`);
    it.write(`${FOLDER}/bundle.age.partial`, bundle.bytes);
    await run(fetchBundle);
    t.equal(await holds(fetchBundle), true);
    t.notOk(it.has(`${FOLDER}/bundle.age.partial`));
  });

  t.test('what a power cut has left of it is not continued', async (t) => {
    const { it, run, holds } = bootingHost(t, bundle);
    it.write('/served', bundle.bytes);
    it.write(`${FOLDER}/bundle.age.partial`, Buffer.alloc(100));
    it.programs.give(
      'prlimit',
      `while [ $# -gt 0 ]; do
  [ "$1" = --output ] && tail -c +$(($(stat -c %s "$2" 2>/dev/null || echo 0) + 1)) ${it.at('/served')} >>"$2"
  shift
done`,
    );
    await run(fetchBundle);
    t.equal(await holds(fetchBundle), true);
  });
});

t.test('the bundle is opened into memory and /run', async (t) => {
  // As in its unit.
  const mask = process.umask(0o077);
  t.teardown(() => process.umask(mask));
  const { it, run, holds } = bootingHost(t, bundle);
  it.write(`${FOLDER}/bundle.age`, bundle.bytes);
  t.equal(await holds(openBundle), false);
  await run(openBundle);
  t.equal(await holds(openBundle), true);
  t.equal(it.read('/opt/openshift/tls/ca.key'), 'the key of a CA');
  t.equal(it.mode('/opt/openshift/tls/ca.key'), 0o600);
  t.equal(it.mode('/opt/openshift/tls'), 0o700);
  t.equal(it.mode('/opt/openshift'), 0o755);
  t.match(it.read('/run/systemd/system/bootkube.service'), 'Type=notify');
  t.ok(it.has('/run/systemd/system/reboot.target.d/10-a.conf'));
  t.notOk(it.has('/etc/systemd/system'), 'no unit stays');
  it.write('/opt/openshift/tls/ca.key', 'damaged');
  t.equal(await holds(openBundle), false);
});

t.test('a bundle that is not for this host, or cannot be applied, is refused', async (t) => {
  const cases: [string, { bytes: Uint8Array; key: string }, string][] = [
    ['of another key', { ...bundle, key: other.key }, 'bundle-mismatch'],
    ['damaged', { ...bundle, bytes: bundle.bytes.slice(0, -1) }, 'bundle-mismatch'],
    ['without a header', { ...bundle, bytes: Buffer.from('nothing') }, 'bundle-mismatch'],
    [
      'with disks',
      await bundleOf({
        ...liveConfig,
        storage: { ...liveConfig.storage, disks: [{ device: '/dev/vdb' }] },
      }),
      'in-place-unsupported',
    ],
  ];
  for (const [title, given, code] of cases) {
    const { it, run } = bootingHost(t, given);
    it.write(`${FOLDER}/bundle.age`, given.bytes);
    await t.rejects(run(openBundle), { kind: 'fatal', code }, title);
    t.notOk(it.has('/opt/openshift'), `${title}: nothing is written`);
  }
});

t.test('the units of a live host are started, those that wait for others too', async (t) => {
  const { it, run, holds } = bootingHost(t, bundle);
  it.write(`${FOLDER}/bundle.age`, bundle.bytes);
  it.programs.give(
    'systemctl',
    `case "$1" in
  start) touch "$ROOT/started" ;;
  show) echo ActiveState=inactive; [ -e "$ROOT/started" ] && echo Job=7 || echo Job=0; echo ConditionTimestampMonotonic=0 ;;
esac`,
  );
  t.equal(await holds(startUnits), false);
  await run(startUnits);
  t.equal(await holds(startUnits), true);
  t.same(it.programs.calls('systemctl').slice(1, 3), [
    'systemctl daemon-reload',
    'systemctl start --no-block install-to-disk.service',
  ]);
});

t.test('a host whose Ignition config says nothing of it', async (t) => {
  await t.rejects(inPlaceHost(testHost(t).paths), {
    kind: 'usage',
    message: /in-place\.json does not exist.*sno create in-place-ignition/s,
  });
});
