import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { AGENTS } from '../../lib/engine/agents/table.ts';
import type { GuestAgent } from './guest-agent.ts';
import { PORTS } from './qemu-arguments.ts';

/** Of Debian's package openssh-sftp-server; needs the C library alone. */
const SFTP_SERVER = '/usr/lib/openssh/sftp-server';
const FOLDER = '/run/sno-lab';
const port = (name: string) => `file:/dev/virtio-ports/${name}`;

/** Of the agents' state: journals, status files and records, without programs and images. */
const KEPT = ['var/lib/sno-agents', 'opt/openshift/gather'];
const NOT_KEPT = ['var/lib/sno-agents/bin', 'var/lib/sno-agents/payload'];

interface GuestService {
  readonly name: string;
  readonly properties: readonly string[];
  readonly command: readonly string[];
}

/** Otherwise warnings go where the output goes: tar's of a folder that is not there made its archive unreadable. */
const NO_WORDS_IN_DATA = 'StandardError=journal';

/** systemd ends them last of all, together with itself. */
const untilTheEnd = 'DefaultDependencies=no';

/**
 * What the lab runs in the guest, in transient units: nothing of the image knows of it. They are there for one boot.
 */
const services: readonly GuestService[] = [
  {
    name: 'sno-lab-files',
    properties: [
      untilTheEnd,
      `StandardInput=${port(PORTS.files)}`,
      `StandardOutput=${port(PORTS.files)}`,
    ],
    command: [`${FOLDER}/sftp-server`, '-e'],
  },
  {
    // A reader of the files in memory would miss that journald opens those on the disk.
    name: 'sno-lab-journal',
    properties: [untilTheEnd, `StandardOutput=${port(PORTS.journal)}`],
    command: [
      ...['/bin/sh', '-c'],
      [
        'until [ -e /run/systemd/journal/flushed ]; do sleep 0.5; done',
        'exec journalctl --follow --no-tail --no-hostname --output=short-iso-precise',
      ].join('\n'),
    ],
  },
  {
    // Stopped after the agents, since it is ordered before them: their last entries are there.
    name: 'sno-lab-kept',
    properties: [
      ...['Type=oneshot', 'RemainAfterExit=yes', `StandardOutput=${port(PORTS.kept)}`],
      `Before=${AGENTS.map(({ unit }) => `${unit}.service`).join(' ')}`,
      [
        'ExecStop=-/bin/tar --create --directory=/ --ignore-failed-read',
        ...NOT_KEPT.map((path) => `--exclude=${path}`),
        ...KEPT,
      ].join(' '),
    ],
    command: ['/bin/true'],
  },
];

/** Starts them, once the guest agent is up; systemd may still be starting. */
export async function startGuestServices(
  agent: GuestAgent,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const install = [
    `mkdir -p -m 0700 ${FOLDER}`,
    `cat > ${FOLDER}/sftp-server`,
    `chmod 0700 ${FOLDER}/sftp-server`,
  ];
  const input = await readFile(SFTP_SERVER);
  await succeed(agent, ['/bin/sh', '-e', '-c', install.join('\n')], { timeoutMs, input }, signal);
  for (const { name, properties, command } of services) {
    const all = [...properties, NO_WORDS_IN_DATA];
    const unit = [`--unit=${name}`, ...all.map((each) => `--property=${each}`)];
    const argv = ['systemd-run', '--quiet', '--collect', ...unit, ...command];
    await succeed(agent, argv, { timeoutMs }, signal);
  }
}

/** Opens a shell of root on the machine's terminal, which `--enter` connects to. */
export function openShell(
  agent: GuestAgent,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const terminal = ['StandardInput=tty', 'TTYPath=/dev/hvc0', 'Restart=always'];
  const properties = terminal.map((each) => `--property=${each}`);
  const argv = ['systemd-run', '--unit=sno-lab-shell', ...properties, '/bin/bash', '-l'];
  return succeed(agent, argv, { timeoutMs }, signal);
}

async function succeed(
  agent: GuestAgent,
  argv: readonly string[],
  execution: { readonly timeoutMs: number; readonly input?: Uint8Array },
  signal: AbortSignal,
): Promise<void> {
  const { exitCode, stderr } = await agent.exec(argv, execution, signal);
  if (exitCode === 0) return;
  throw new Failure('fatal', `the lab could not start "${argv.slice(0, 4).join(' ')}" there`, {
    found: `exit code ${exitCode} | ${stderr.slice(-500)}`,
  });
}
