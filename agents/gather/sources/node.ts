import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramCall } from '../../../lib/host/program-output.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { command } from './command.ts';
import { file, folder, linkedFile } from './file.ts';
import { made } from './made.ts';
import { present } from './present.ts';

/** Files of /proc collected as `proc/NAME.txt`. */
const PROC = [
  ...['meminfo', 'loadavg', 'cpuinfo', 'cmdline', 'uptime', 'stat', 'vmstat'],
  ...['diskstats', 'version', 'swaps', 'modules', 'interrupts', 'softirqs', 'buddyinfo', 'locks'],
  ...['pressure/cpu', 'pressure/memory', 'pressure/io', 'self/mountinfo'],
  ...['net/sockstat', 'net/sockstat6', 'net/snmp', 'net/netstat', 'net/softnet_stat', 'net/dev'],
  ...['sys/kernel/tainted', 'sys/kernel/pid_max', 'sys/kernel/random/boot_id', 'sys/fs/file-nr'],
  ...['sys/fs/inotify/max_user_instances', 'sys/fs/inotify/max_user_watches'],
  ...['sys/crypto/fips_enabled', 'sys/vm/overcommit_memory', 'sys/vm/swappiness'],
];

const PROCESSES = [
  'ps',
  '-e',
  '--width=4000',
  '--format=pid,ppid,user,stat,nice,rss,vsz,pcpu,time,lstart,wchan:24,args',
] as const;

/** Board, machine and memory modules. */
const HARDWARE = [
  'dmidecode',
  '--quiet',
  ...['bios', 'system', 'baseboard', 'memory'].map((type) => `--type=${type}`),
] as const;

/** Kernel, hardware, operating system and running processes. */
export const node: SourceGroup = {
  name: 'node',
  deadlineMs: 5000,
  async list(host) {
    const { at: onHost } = host.paths;
    const at = (name: string) => own(host, name);
    return [
      ...(await present(PROC.map((name) => file(at(`proc/${name}.txt`), onHost(`/proc/${name}`))))),
      file(at('proc/mounts.txt'), onHost('/proc/self/mounts')),
      command(at('proc/processes.txt'), PROCESSES),
      made(at('proc/cgroups.txt'), controlGroups),
      ...(await present([
        linkedFile(at('os-release.txt'), onHost('/etc/os-release'), [
          onHost('/etc'),
          onHost('/usr'),
        ]),
        command(at('rpm-ostree/status.txt'), ['rpm-ostree', 'status', '--verbose']),
        // There is no history before the first update.
        command(at('rpm-ostree/history.txt'), ['rpm-ostree', 'ex', 'history'], { accepts: [0, 1] }),
        command(at('packages.txt'), await packageList()),
        {
          ...command(at('hardware.txt'), HARDWARE),
          place: onHost('/sys/firmware/dmi/tables/DMI'),
        },
        command(at('hardware-pci.txt'), ['lspci', '-nn', '-k'], { accepts: [0, 1] }),
        command(at('hardware-cpu.txt'), ['lscpu']),
        command(at('selinux.txt'), ['getenforce']),
        command(at('selinux-status.txt'), ['sestatus'], { accepts: [0, 1] }),
        command(at('reboots.txt'), ['last', '--system', '--time-format=iso', '--limit=200']),
      ])),
      ...(await folder(at('log'), onHost('/var/log'), {
        depth: 1,
        wanted: /^\w[\w.-]*\.log$/,
        phase: 'bulk',
        limitBytes: 8 << 20,
      })),
      // Contains SELinux denials when auditd runs.
      ...(await folder(at('log/audit'), onHost('/var/log/audit'), {
        wanted: /^audit\.log$/,
        phase: 'bulk',
        limitBytes: 8 << 20,
      })),
      ...(await folder(at('log/kube-apiserver'), onHost('/var/log/kube-apiserver'), {
        wanted: /^(audit|termination)\.log$/,
        phase: 'bulk',
        limitBytes: 16 << 20,
      })),
    ];
  },
};

/** Every package with its version; most recently installed first, if the database tells. */
const packageList = async (): Promise<ProgramCall> =>
  (await isInstalled('dpkg-query'))
    ? ['dpkg-query', '--list']
    : ['rpm', '--query', '--all', '--last'];

const SLICES = [
  '',
  'init.scope',
  'system.slice',
  'user.slice',
  ...['kubepods.slice', 'kubepods'],
  ...['kubepods.slice/kubepods-burstable.slice', 'kubepods/burstable'],
  ...['kubepods.slice/kubepods-besteffort.slice', 'kubepods/besteffort'],
  ...['kubelet', 'containerd', 'crio'].map((name) => `system.slice/${name}.service`),
];
const MEASURES = [
  ...['memory.current', 'memory.peak', 'memory.max', 'memory.high', 'memory.swap.current'],
  ...['memory.events', 'memory.pressure', 'cpu.pressure', 'io.pressure', 'cpu.stat'],
  'pids.current',
];

/** Resource usage and pressure of systemd's slices and of all pods (cgroup v2). */
async function controlGroups({ paths }: GatherHost): Promise<string> {
  const root = paths.at('/sys/fs/cgroup');
  const lines = await Promise.all(
    SLICES.flatMap((slice) =>
      MEASURES.map(async (measure) => {
        const text = await readFile(join(root, slice, measure), 'utf8').catch(() => '');
        const values = text.split('\n').filter((line) => line !== '');
        return values.map((value) => `${join('/', slice, measure)}: ${value}\n`).join('');
      }),
    ),
  );
  return lines.join('');
}
