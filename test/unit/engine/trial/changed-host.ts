import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Test } from 'tap';
import { type ArmOptions, armTrial } from '../../../../lib/engine/trial/arm.ts';
import { networkManagerPoints, replaceFolder } from '../../../../lib/engine/trial/points.ts';
import { type TestHost, testHost } from '../../agents/host/host.ts';

export const ID = '0b6f7d0e-50a8-4d5f-8f43-0c8a35c2a111';
export const PROFILES = '/etc/NetworkManager/system-connections';
export const INTERN = '/var/lib/NetworkManager/NetworkManager-intern.conf';
export const EXECUTABLE = '/var/lib/sno-agents/bin/sno-agents';
export const KEPT_EXECUTABLE = `${EXECUTABLE}.trial`;
export const RECORD = '/var/lib/sno-agents/sno-trial/trial.json';
export const LAST = '/var/lib/sno-agents/sno-trial/last.json';
export const DROPIN = '/etc/systemd/system/sno-trial.timer.d/50-deadline.conf';
export const MOVED = {
  path: '/var/lib/sno-agents/payload',
  aside: '/var/lib/sno-agents/sno-trial/payload',
} as const;
/** The timer as systemd has it: what it read of the deadline when it started it. */
export const ACTIVE_TIMER = '/run/active-timer';
/** Starts the timer as systemd does: with the files of the last reload, and only if its condition holds. */
const SYSTEMCTL = `
mkdir -p "$ROOT/run"
case "$*" in
daemon-reload) cp "$ROOT${DROPIN}" "$ROOT/run/loaded" 2>/dev/null || rm -f "$ROOT/run/loaded" ;;
"start --no-block sno-trial.timer") [ ! -s "$ROOT${RECORD}" ] || cp "$ROOT/run/loaded" "$ROOT${ACTIVE_TIMER}" ;;
"stop sno-trial.timer") rm -f "$ROOT${ACTIVE_TIMER}" ;;
esac
exit 0`;
const NEXT = '/var/lib/sno-agents/next-payload';

export const OPTIONS: ArmOptions = {
  id: ID,
  what: 'the change',
  deadlineMs: 1_800_000,
  bootsCount: 1,
  points: {
    network: networkManagerPoints,
    files: ['/etc/kubernetes/kubelet.yaml', '/etc/kubernetes/secret', '/etc/sno-agents/new'],
    moved: [MOVED],
  },
};

/** A host before a change. */
export function unchangedHost(t: Test): TestHost {
  const host = testHost(t);
  host.programs.give('systemctl', SYSTEMCTL);
  host.write(EXECUTABLE, 'the old executable', 0o755);
  host.write(`${PROFILES}/eth0.nmconnection`, 'address1=old', 0o600);
  host.write('/etc/kubernetes/kubelet.yaml', 'old: true', 0o644);
  host.write('/etc/kubernetes/secret', 'old key', 0o600);
  host.write('/etc/systemd/system/kubelet.service', 'untouched');
  host.write(`${MOVED.path}/payload.yaml`, 'the old payload');
  host.write(`${MOVED.path}/images/etcd.tar`, 'the old etcd');
  return host;
}

export const arm = (host: TestHost, options: ArmOptions = OPTIONS) =>
  armTrial(host.paths, options, AbortSignal.timeout(60_000));

/** The change: every point of return is another one afterwards. May be interrupted and continued. */
export async function change(host: TestHost): Promise<void> {
  host.write(`${PROFILES}/eth0.nmconnection`, 'address1=new', 0o600);
  host.write(`${PROFILES}/bond0.nmconnection`, 'a new one', 0o600);
  host.write(INTERN, '[global-dns]');
  host.write('/etc/kubernetes/kubelet.yaml', 'old: false', 0o644);
  rmSync(host.at('/etc/kubernetes/secret'), { force: true });
  host.write('/etc/sno-agents/new', 'new');
  // As an update replaces it: another file under the same name.
  rmSync(host.at(EXECUTABLE), { force: true });
  host.write(EXECUTABLE, 'the new executable', 0o755);
  host.write(`${NEXT}/payload.yaml`, 'the new payload');
  await replaceFolder(host.paths, MOVED, host.at(NEXT));
}

/** Every file of the host with its contents and mode, except for what the trial itself keeps and what a killed `writeFileAtomic` leaves. */
export function snapshot(host: TestHost): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder).toSorted()) {
      const path = join(folder, name);
      const stat = lstatSync(path);
      if (stat.isDirectory()) visit(path);
      else if (stat.isSymbolicLink()) found[relative(host.root, path)] = readlinkSync(path);
      else {
        const digest = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12);
        found[relative(host.root, path)] = `${(stat.mode & 0o7777).toString(8)} ${digest}`;
      }
    }
  };
  mkdirSync(host.root, { recursive: true });
  visit(host.root);
  return Object.fromEntries(
    Object.entries(found).filter(
      ([path]) => !/^run\/|sno-trial|sno-agents\.trial|\/\.[^/]+\.new$/.test(path),
    ),
  );
}
