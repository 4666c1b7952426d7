import t, { type Test } from 'tap';
import { copyPayload } from '../../../../agents/install-to-disk/copy-payload.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { cluster } from '../../../unit/agents/host/cluster.ts';
import { diskFile, type FakePartition, giveDisk } from '../../../unit/agents/host/disk.ts';
import { type TestHost, testHost } from '../../../unit/agents/host/host.ts';
import { journalOf } from '../../../unit/agents/host/journal.ts';
import { writePayload } from '../../../unit/agents/host/payload.ts';
import { compressPayloadIn } from '../../../unit/payload/compressed.ts';

const STATE = 'var/lib/sno-agents';
const onDisk = (path: string) => diskFile(2, `${STATE}/${path}`);
const MARKER = onDisk('installation.json');
const partitions = (root: FakePartition = {}) => [
  { label: 'boot' },
  { label: 'root', fstype: 'xfs', ...root },
];

function host(t: Test): TestHost {
  const it = testHost(t, { cluster: { executableSha256: sha256('the agents') } });
  it.write('/var/lib/sno-agents/bin/sno-agents', 'the agents', 0o755);
  writePayload(it, '/run/media/iso/sno-agents/payload');
  it.write('/var/lib/sno-agents/bootkube/journal.jsonl', journalOf(['etcd', 'started']));
  giveDisk(it, { partitions: partitions() });
  return it;
}

const state = (it: TestHost) => JSON.parse(it.read(MARKER)).state;

t.test('copy-payload', async (t) => {
  t.test('leaves executable, payload and journals on the disk, and the mark', async (t) => {
    const it = host(t);
    t.equal(await it.holds(copyPayload), false, 'before');
    t.same(await it.run(copyPayload), { kind: 'done' });
    t.equal(await it.holds(copyPayload), true, 'after');
    t.equal(it.read(onDisk('bin/sno-agents')), 'the agents');
    t.equal(it.mode(onDisk('bin/sno-agents')), 0o755);
    t.equal(it.read(onDisk('payload/bin/kubelet')), 'a kubelet');
    t.equal(it.read(onDisk('payload/images/etcd.tar')), 'an image');
    t.ok(it.has(onDisk('payload/payload.yaml')));
    t.match(it.read(onDisk('live/bootkube.jsonl')), '"step":"etcd"');
    t.equal(it.read(onDisk('live/install-to-disk.jsonl')), '', 'no journal yet is an empty one');
    t.match(JSON.parse(it.read(MARKER)), {
      clusterId: cluster.clusterId,
      cluster: 'edge.example.test',
      state: 'finished',
      at: /^20\d\d-/,
    });
    t.match(it.programs.calls('mount -o rw,'), [/ \/dev\/vda2 /], 'mounted to be written once');
    // For reading it without replaying its journal.
    t.match(it.programs.calls('mount -o ro,norecovery,'), [/ \/dev\/vda2 /, / \/dev\/vda2 /]);
    t.equal(it.mode(onDisk('.')), 0o755, 'the kubelet is started from it');
    t.equal(it.mode(onDisk('live/bootkube.jsonl')), 0o644);
    t.match(it.lines.join(''), /Waiting for the payload to be copied to the disk/);
  });

  t.test('takes what is compressed on the medium from where it was decompressed', async (t) => {
    const it = host(t);
    const medium = '/run/media/iso/sno-agents/payload';
    compressPayloadIn(it.at(medium));
    writePayload(it, '/var/lib/sno-agents/payload');
    it.write('/var/lib/sno-agents/payload/payload.yaml', it.read(`${medium}/payload.yaml`));
    for (const folder of ['images', 'bin']) it.remove(`${medium}/${folder}`);
    t.same(await it.run(copyPayload), { kind: 'done' });
    t.equal(it.read(onDisk('payload/bin/kubelet')), 'a kubelet');
    t.equal(it.read(onDisk('payload/payload.yaml')), it.read(`${medium}/payload.yaml`));
    t.notOk(it.has(onDisk('payload/bin/kubelet.zst')));
  });

  t.test('on OpenShift there is no payload', async (t) => {
    const it = testHost(t, {
      cluster: { executableSha256: sha256('the agents'), controlPlane: 'openshift' },
    });
    it.write('/var/lib/sno-agents/bin/sno-agents', 'the agents', 0o755);
    giveDisk(it, { partitions: partitions() });
    t.same(await it.run(copyPayload), { kind: 'done' });
    t.equal(await it.holds(copyPayload), true);
    t.equal(it.read(onDisk('bin/sno-agents')), 'the agents');
    t.notOk(it.has(onDisk('payload')));
  });

  t.test('of two stateroots, /var is that of the one that boots', async (t) => {
    const it = host(t);
    const files = { 'ostree/deploy/old/var/.keep': '', 'ostree/deploy/rhcos/var/.keep': '' };
    const entry = (version: number, stateroot: string) =>
      `version ${version}\noptions ostree=/ostree/boot.1/${stateroot}/4f2e/0\n`;
    const boot = {
      ...{ label: 'boot', fstype: 'ext4' },
      files: {
        'loader/entries/ostree-1-a.conf': entry(1, 'old'),
        'loader/entries/ostree-2-b.conf': entry(2, 'rhcos'),
      },
    };
    giveDisk(it, { partitions: [boot, { label: 'root', fstype: 'xfs', files }] });
    await it.run(copyPayload);
    t.ok(it.has(diskFile(2, `ostree/deploy/rhcos/${STATE}/bin/sno-agents`)));
    t.notOk(it.has(diskFile(2, `ostree/deploy/old/${STATE}`)));
    t.equal(await it.holds(copyPayload), true);
    t.match(it.programs.calls('mount -o ro,noload'), [/ \/dev\/vda1 /], 'boot is only read');
  });

  t.test('on CoreOS, /var is the one of the deployment', async (t) => {
    const it = host(t);
    giveDisk(it, { partitions: partitions({ files: { 'ostree/deploy/rhcos/var/.keep': '' } }) });
    await it.run(copyPayload);
    t.ok(it.has(diskFile(2, `ostree/deploy/rhcos/${STATE}/bin/sno-agents`)));
    t.equal(await it.holds(copyPayload), true);
  });

  t.test('run again, or after an interruption, the result is the same', async (t) => {
    const it = host(t);
    await it.run(copyPayload);
    it.write(onDisk('payload/bin/kubelet'), 'half a k');
    it.write(onDisk('bin/.sno-agents.new'), 'half');
    t.same(await it.run(copyPayload), { kind: 'done' });
    t.equal(it.read(onDisk('payload/bin/kubelet')), 'a kubelet');
    t.notOk(it.has(onDisk('bin/.sno-agents.new')));
  });

  const marks: [title: string, marker: object, holds: boolean][] = [
    ['of this cluster', { state: 'finished' }, true],
    ['not finished', { state: 'writing' }, false],
    ['of another cluster', { state: 'finished', clusterId: 'another' }, false],
  ];
  for (const [title, more, holds] of marks) {
    t.test(`a mark ${title}`, async (t) => {
      const it = host(t);
      const marker = { clusterId: cluster.clusterId, cluster: 'x', at: 'then', ...more };
      it.write(MARKER, JSON.stringify(marker));
      t.equal(await it.holds(copyPayload), holds);
    });
  }

  /** Copying that file fails or damages it. */
  const copies: [title: string, script: string, kind: string, says: RegExp][] = [
    [
      'a damaged executable',
      '*/sno-agents) echo damaged > "$5" ;;',
      'retry',
      /copy of the executable is damaged; expected \w{64}; found \w{64}/,
    ],
    [
      'a damaged payload',
      '*/bin/kubelet) echo damaged > "$5" ;;',
      'fatal',
      /damaged: bin\/kubelet/,
    ],
    [
      'a full disk',
      '*/payload.yaml) echo "No space left" >&2; exit 1 ;;',
      'retry',
      /No space left/,
    ],
  ];
  for (const [title, script, kind, says] of copies) {
    t.test(`${title} does not count as finished`, async (t) => {
      const it = host(t);
      it.programs.give('cp', `case "$4" in ${script} *) /bin/cp "$@" ;; esac`);
      const failure = await it.failureOf(copyPayload);
      t.match(failure, { kind, message: says });
      if (title === 'a damaged executable') t.equal(failure.code, 'executable-mismatch');
      t.equal(state(it), 'writing');
      t.equal(await it.holds(copyPayload), false);
    });
  }

  t.test('ends when it is told to stop', async (t) => {
    const it = host(t);
    it.programs.give('mount', 'touch "$ROOT/begun"; exec sleep 300');
    t.match(await it.stoppedAt('/begun', copyPayload), { message: /stopped/ });
  });

  t.test('a disk without a system', async (t) => {
    const it = host(t);
    giveDisk(it, { partitions: [{ label: 'data' }, {}] });
    t.match(await it.failureOf(copyPayload), {
      kind: 'retry',
      message: /no partition with the label root; found data, -$/,
    });
    giveDisk(it);
    t.match(await it.failureOf(copyPayload), { kind: 'retry', message: /found no partitions$/ });
  });
});
