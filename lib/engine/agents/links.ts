import type { AgentName } from './table.ts';

const BINARIES = '/var/lib/sno-agents/bin';
/** In PATH for root and for users, also through sudo, and writable on CoreOS. */
const COMMANDS = '/usr/local/bin';

export interface LinkOnHost {
  readonly path: string;
  readonly target: string;
}

/** Links in PATH to the one executable, which selects its program by the name it is called by. */
export const commandLinks = (names: readonly string[]): LinkOnHost[] =>
  names.map((name) => ({ path: `${COMMANDS}/${name}`, target: `${BINARIES}/sno-agents` }));

/** The links of agents: one beside the executable, one in PATH. */
export const agentLinks = (names: readonly AgentName[]): LinkOnHost[] => [
  ...names.map((name) => ({ path: `${BINARIES}/${name}`, target: 'sno-agents' })),
  ...commandLinks(names),
];
