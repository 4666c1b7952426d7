import { parse } from 'yaml';
import { z } from 'zod';

/** A unit that runs one program of a node, with nothing of ours around it. */
export interface BareUnit {
  /** With `.service`. */
  readonly name: string;
  readonly text: string;
}

const podSchema = z.object({
  spec: z.object({ containers: z.tuple([z.object({ command: z.array(z.string()).min(1) })]) }),
});

/** Where the programs are that are images on other hosts. */
export const PROGRAMS = '/usr/local/bin';

export const bareName = (program: string): string => `bare-${program}.service`;

/** The program of a static pod, with its flags. */
export function unitOfPod(manifest: string): BareUnit {
  const [program = '', ...flags] = podSchema.parse(parse(manifest)).spec.containers[0].command;
  return unit(program, [`ExecStart=${[`${PROGRAMS}/${program}`, ...flags].map(quoted).join(' ')}`]);
}

/** The kubelet with the environment and the command line of its unit on an installed host. */
export function unitOfKubelet(installed: string): BareUnit {
  const same = /^(EnvironmentFile|ExecStart|KillMode|OOMScoreAdj)/;
  return unit(
    'kubelet',
    installed.split('\n').filter((line) => same.test(line)),
  );
}

function unit(program: string, service: readonly string[]): BareUnit {
  const lines = [
    '[Unit]',
    'Wants=network-online.target containerd.service',
    'After=network-online.target containerd.service',
    // A program that starts before the one that it needs is started again until both run.
    'StartLimitIntervalSec=0',
    '[Service]',
    ...service,
    'Restart=on-failure',
    '[Install]',
    'WantedBy=multi-user.target',
  ];
  return { name: bareName(program), text: `${lines.join('\n')}\n` };
}

/** One argument of a command line in a unit. */
const quoted = (argument: string): string =>
  `"${argument
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$')}"`;
