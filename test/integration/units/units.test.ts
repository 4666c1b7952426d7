import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..', '..');
const SYSTEM_UNITS = '/usr/lib/systemd/system';
const COMMAND_DEADLINE_MS = 30_000;

/**
 * The highest exposure that `systemd-analyze security` may find, in tenths (0 to 100). A unit
 * that is not here fails: whoever adds one decides how much of the host it may reach, and
 * says beside it what it needs and why. They are what systemd 252 finds; other versions
 * weigh a little differently, hence one tenth of room.
 */
const EXPOSURE_LIMITS: Readonly<Record<string, number>> = {
  'sno-label.service': 9,
  'aio/aiokube.service': 23,
  'aio/by-url/sno-executable.service': 18,
  'aio/sno-executable.service': 9,
  // It mounts for the whole host, and fetches.
  'in-place/sno-in-place.service': 48,
  'live/approve-csr.service': 17,
  'live/bootkube.service': 29,
  'live/install-to-disk.service': 25,
  // The kubelet starts every container of the host: a sandbox would be theirs too.
  'live/kubelet.service': 96,
  // It writes to every console.
  'live/progress.service': 14,
  'live/sno-executable.service': 9,
  'live/sno-gather.service': 30,
  // It fetches: no address can be known beforehand.
  'live/by-url/sno-executable.service': 18,
  'live/sno-network.service': 21,
  // The address of the hub is not known beforehand.
  'report/sno-report.service': 19,
  // It connects to the control-plane host, whose address is the site's.
  'worker/sno-api.service': 14,
  'worker/sno-worker.service': 23,
  // The API and the kubelet on loopback; it asks systemd to restart the kubelet.
  'worker/sno-worker-trust.service': 20,
  'installed/bootkube.service': 26,
  'installed/kubelet.service': 96,
  'installed/progress.service': 14,
  'installed/sno-certificates.service': 15,
  // It mounts for the whole host, so it sees the whole host.
  'installed/sno-unseal.service': 43,
  // The API on loopback, and nothing that changes the host.
  'installed/sno-approve.service': 17,
  'installed/sno-deferred.service': 22,
  'installed/sno-gather.service': 30,
  // With CRI-O, it has systemd run podman. It compares unpacked files of any owner with their archive.
  'installed/sno-payload.service': 18,
  'installed/openshift/sno-payload.service': 8,
  'installed/sno-backup.service': 17,
  // The address of the store is not known beforehand.
  'installed/sno-backup-push.service': 19,
  // It asks systemd to restart the kubelet.
  'installed/sno-backup-restore.service': 22,
  // The API, etcd and the kubelet on loopback; addresses by netlink.
  'installed/sno-renew.service': 19,
  // It asks systemd to restart the kubelet, so it keeps the users of the host.
  'installed/sno-rotate.service': 22,
  // The same, and netlink for its addresses.
  'installed/sno-identity.service': 23,
  // It asks systemd to start another agent; netlink, and no connection.
  'installed/sno-address.service': 20,
  'installed/sno-restore.service': 15,
  // Files of any owner, and a restart of the host; no network.
  'installed/sno-trial.service': 19,
  // It replaces configuration, and may fetch what it replaces it by.
  'installed/sno-update.service': 25,
  // It replaces configuration, and asks the servers of the site.
  'installed/reconfigure.service': 25,
  // It asks one server of the network, and systemd to start another agent.
  'installed/sno-site-url.service': 22,
};

const stages = [
  ...['live', 'live/by-url', 'installed', 'aio', 'aio/by-url', 'worker', 'report', 'in-place'],
];
/** Those of the stage, and those that both stages have. */
const unitsOf = (stage: string) =>
  ['units', `units/${stage}`].flatMap((folder) =>
    globSync(`${folder}/*.{service,socket,target,timer,path,mount,device}`, {
      cwd: root,
    }).toSorted(),
  );

const analyze = (args: string[]) =>
  execa('systemd-analyze', ['--no-pager', ...args], {
    reject: false,
    all: true,
    timeout: COMMAND_DEADLINE_MS,
  });

/** A host's root with the units of a stage, systemd's own, and every program that they start. */
function hostWith(stage: string, folder: string): string {
  cpSync(SYSTEM_UNITS, join(folder, SYSTEM_UNITS), { recursive: true, verbatimSymlinks: true });
  const units = join(folder, 'etc/systemd/system');
  for (const unit of unitsOf(stage)) {
    cpSync(join(root, unit), join(units, basename(unit)));
    for (const program of programsOf(readFileSync(join(root, unit), 'utf8'))) {
      const path = join(folder, program);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, '#!/bin/sh\n');
      chmodSync(path, 0o755);
    }
  }
  return folder;
}

/** `ExecStart=-/usr/bin/x y` and its like: the program, without systemd's prefixes. */
const programsOf = (unit: string): string[] =>
  Array.from(unit.matchAll(/^Exec\w+=[-@:+!|]*(\/\S+)/gm), ([, program = '']) => program);

const skip =
  existsSync(SYSTEM_UNITS) && !(await analyze(['--version'])).failed
    ? false
    : 'systemd-analyze is not installed';

for (const stage of stages) {
  t.test(`units of the ${stage} host`, { skip }, async (t) => {
    const host = hostWith(stage, t.testdir());
    const units = unitsOf(stage);
    t.not(units.length, 0, `units/${stage} holds units`);

    for (const unit of units) {
      // An unknown directive is only a warning to systemd: it must not print anything.
      const verify = ['verify', '--man=no', '--recursive-errors=no', `--root=${host}`];
      const { exitCode, all } = await analyze([...verify, basename(unit)]);
      t.strictSame({ exitCode, all }, { exitCode: 0, all: '' }, `${unit} is correct`);
    }

    for (const unit of units.filter((name) => name.endsWith('.service'))) {
      const limit = EXPOSURE_LIMITS[unit.replace('units/', '')];
      t.ok(limit !== undefined, `${unit} has a limit`);
      const security = ['security', '--offline=true', `--threshold=${limit ?? 0}`];
      const { failed, all } = await analyze([...security, `--root=${host}`, basename(unit)]);
      const found = all?.split('\n').find((line) => line.includes('Overall exposure')) ?? all;
      t.notOk(failed, `${unit} stays within ${limit} tenths: ${found}`);
    }
  });
}

t.test('every service has a limit, and every limit a service', async (t) => {
  const services = globSync('**/*.service', { cwd: join(root, 'units') });
  t.strictSame(services.toSorted(), Object.keys(EXPOSURE_LIMITS).toSorted());
});

t.test('systemd-analyze reports wrong units', { skip }, async (t) => {
  const wrong = {
    'unknown.service': '[Service]\nExecStart=/bin/x\nWatchdogSecs=5\n',
    'missing.service': '[Service]\nExecStart=/opt/nowhere/x\n',
    'empty.service': '[Service]\nRestart=always\n',
  };
  const folder = t.testdir({ bin: { x: '' }, etc: { systemd: { system: wrong } } });
  cpSync(SYSTEM_UNITS, join(folder, SYSTEM_UNITS), { recursive: true, verbatimSymlinks: true });
  chmodSync(join(folder, 'bin/x'), 0o755);
  for (const name of Object.keys(wrong)) {
    const { exitCode, all } = await analyze(['verify', '--man=no', `--root=${folder}`, name]);
    t.notSame({ exitCode, all }, { exitCode: 0, all: '' }, name);
  }
});
