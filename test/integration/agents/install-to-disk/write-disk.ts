import t, { type Test } from 'tap';
import { writeDisk } from '../../../../agents/install-to-disk/write-disk.ts';
import { cluster } from '../../../unit/agents/host/cluster.ts';
import { diskFile, giveDisk } from '../../../unit/agents/host/disk.ts';
import { type HostOptions, type TestHost, testHost } from '../../../unit/agents/host/host.ts';

const IGNITION = `{"clusterId":"${cluster.clusterId}"}`;
const CONFIG = diskFile(1, 'ignition/config.ign');
const written = {
  partitions: [{ label: 'boot', files: { 'ignition/config.ign': IGNITION } }, { label: 'root' }],
};

/** systemd's behaviour for one unit: its program runs immediately, its result is stored in a file. */
const SYSTEMD_RUN = `
for word; do case "$word" in --property=ExecStopPost=*) mark="\${word##* }" ;; esac; done
while [ "$1" != -- ]; do shift; done; shift
"$@"; echo $? > "$ROOT/exit-code"; touch "$mark"`;
const SYSTEMCTL = `
code=$(cat "$ROOT/exit-code" 2> /dev/null || echo 0)
case "$1" in
  show) echo "ActiveState=inactive"; echo "ExecMainStatus=$code"
    [ "$code" = 0 ] && echo Result=success || echo Result=exit-code ;;
  stop | reset-failed) ;;
  *) exit 97 ;;
esac`;
/** Writes the partitions that \`lsblk-after.json\` has, and the Ignition. */
const COREOS_INSTALLER = `
mkdir -p "$ROOT/disk/vda1/ignition" && cp "$ROOT/opt/openshift/master.ign" "$ROOT/${CONFIG}"
cp "$ROOT/lsblk-after.json" "$ROOT/lsblk.json"`;

/** A live host with an empty disk and the combined Ignition. */
function host(t: Test, options: HostOptions = {}): TestHost {
  const it = testHost(t, options);
  giveDisk(it, written);
  const after = it.read('/lsblk.json');
  giveDisk(it);
  it.write('/lsblk-after.json', after);
  it.write('/opt/openshift/master.ign', IGNITION, 0o600);
  it.programs.give('systemd-run', SYSTEMD_RUN);
  it.programs.give('systemctl', SYSTEMCTL);
  it.programs.give('journalctl', 'echo "Read disk 4 GiB (50%)"; echo Done');
  it.programs.give('coreos-installer', COREOS_INSTALLER);
  return it;
}

t.test('write-disk', async (t) => {
  t.test(
    "writes the system with the combined Ignition and the host's network configuration",
    async (t) => {
      const it = host(t, {
        cluster: {
          installation: {
            ...cluster.installation,
            kernelArguments: ['nosmt'],
            coreosInstallerArgs: ['--offline'],
          },
        },
      });
      t.equal(await it.holds(writeDisk), false, 'before');
      t.same(await it.run(writeDisk), { kind: 'done' });
      t.equal(await it.holds(writeDisk), true, 'after');
      t.same(it.programs.calls('coreos-installer'), [
        `coreos-installer install --copy-network --ignition-file ${it.paths.masterIgnition} --append-karg=nosmt --offline /dev/vda`,
      ]);
      // Inspecting the disk does not replay its journal.
      t.match(it.programs.calls('mount').at(-1), /^mount -o ro,noload,.* \/dev\/vda1 /);
      t.match(it.lines.join(''), /Waiting for coreos-installer to write \/dev\/vda/);
      t.match(
        it.programs.calls('systemd-run')[0],
        /--unit=sno-coreos-installer --description=Write the operating system to \/dev\/vda/,
      );
    },
  );

  t.test('on a multipath device, the system is told how to find its root', async (t) => {
    const it = host(t);
    it.write('/sys/class/block/vda/dm/name', 'mpatha\n');
    it.write('/sys/class/block/vda/dm/uuid', 'mpath-3600a098\n');
    t.same(await it.run(writeDisk), { kind: 'done' });
    const [call = ''] = it.programs.calls('coreos-installer');
    t.match(
      call,
      / --append-karg=rd\.multipath=default --append-karg=root=\S+ --append-karg=rw \//,
    );
    t.match(it.lines.join(''), /multipath device: adds the kernel arguments rd\.multipath=default/);
  });

  t.test("passes on the installer's output, and one in ten of its percentages", async (t) => {
    const it = host(t);
    // The unit ends once the test has seen its output.
    it.programs.unless('coreos-installer', 'until [ -e "$ROOT/seen" ]; do sleep 0.02; done');
    const inBackground = SYSTEMD_RUN.replace('"$@"; echo', '( "$@"; echo');
    it.programs.give('systemd-run', `${inBackground} ) > /dev/null 2>&1 &`);
    const percents = '(0%%)\n(9%%)\n(11%%)\n(12%%)\n(19%%)\n(20%%)';
    it.programs.give('journalctl', `printf 'Installing\n${percents}\nAlmost done\n'`);
    const running = it.run(writeDisk);
    await it.said(/coreos-installer: Almost done/);
    it.write('/seen');
    t.same(await running, { kind: 'done' });
    t.same(
      it.lines.join('').match(/coreos-installer: .*?(done|Installing|written)/g),
      ['Installing', '0% written', '11% written', '20% written', 'Almost done'].map(
        (x) => `coreos-installer: ${x}`,
      ),
    );
  });

  t.test('holds if the Ignition is on the disk', async (t) => {
    const it = host(t);
    giveDisk(it, written);
    t.equal(await it.holds(writeDisk), true);
    it.write(CONFIG, '{"another":"Ignition"}');
    t.equal(await it.holds(writeDisk), false, 'another one');
    it.remove(CONFIG);
    t.equal(await it.holds(writeDisk), false, 'none');
    it.remove('/opt/openshift/master.ign');
    t.equal(await it.holds(writeDisk), false, 'none on either side is no match');
    giveDisk(it, { partitions: [{ label: 'root' }] });
    t.equal(await it.holds(writeDisk), false, 'no boot partition');
  });

  t.test('a new Ignition or other arguments run it again', async (t) => {
    const it = host(t);
    const before = JSON.stringify(await writeDisk.input(it.context));
    it.write('/opt/openshift/master.ign', '{}');
    const after = JSON.stringify(await writeDisk.input(it.context));
    t.not(after, before);
    t.notMatch(after, IGNITION, 'but no secret is in the journal');
    t.match(after, '/dev/vda');
  });

  const refused: [title: string, disk: Parameters<typeof giveDisk>[1], says: RegExp][] = [
    [
      'mounted meanwhile',
      { mountinfo: '1 1 252:0 / /mnt rw - ext4 /dev/vda rw\n' },
      /in use|mounted/,
    ],
    [
      'finished meanwhile',
      {
        partitions: [
          {
            label: 'root',
            files: {
              'var/lib/sno-agents/installation.json': JSON.stringify({
                clusterId: cluster.clusterId,
                cluster: 'x',
                state: 'finished',
                at: 'then',
              }),
            },
          },
        ],
      },
      /finished installation/,
    ],
  ];
  for (const [title, disk, says] of refused) {
    t.test(`a disk that is ${title} is not written`, async (t) => {
      const it = host(t);
      giveDisk(it, disk);
      t.match(await it.failureOf(writeDisk), { kind: 'fatal', message: says });
      t.same(it.programs.calls('coreos-installer'), []);
    });
  }

  t.test('ends when it is told to stop', async (t) => {
    const it = host(t);
    it.programs.give('systemd-run', 'touch "$ROOT/begun"');
    it.programs.give('journalctl', 'exec sleep 300');
    t.match(await it.stoppedAt('/begun', writeDisk), { message: 'told to stop' });
    giveDisk(it, written);
    it.programs.give('mount', 'touch "$ROOT/mounting"; exec sleep 300');
    const looking = await it.stoppedAt('/mounting', (progress) =>
      writeDisk.holds(it.context, progress),
    );
    t.match(looking, { message: /stopped/ });
  });

  t.test('a half-written disk is written again', async (t) => {
    const it = host(t);
    giveDisk(it, { partitions: [{ label: 'boot' }, { label: 'root' }] });
    t.equal(await it.holds(writeDisk), false);
    t.match(await it.run(writeDisk), { kind: 'done' });
    t.equal(await it.holds(writeDisk), true);
  });

  t.test('an installer that fails is retried', async (t) => {
    const it = host(t);
    it.programs.give('coreos-installer', 'exit 5');
    t.match(await it.failureOf(writeDisk), {
      kind: 'retry',
      message: /sno-coreos-installer.*exit code 5/,
    });
    it.programs.give('coreos-installer', COREOS_INSTALLER);
    it.programs.forgetCalls();
    t.match(await it.run(writeDisk), { kind: 'done' });
    t.equal(it.programs.calls('coreos-installer').length, 1);
  });
});
