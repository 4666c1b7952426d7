import { allCommands, type CommandNode } from '../../cli/completion/command-tree.ts';
import { HOST_COMMANDS } from '../../lib/engine/agents/commands.ts';
import { AGENTS } from '../../lib/engine/agents/table.ts';

/** Escapes roff markup: backslashes, leading dots and quotes; a hyphen becomes a minus sign. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');

const bold = (text: string) => `\\fB${roff(text)}\\fR`;

interface Page {
  readonly title: string;
  readonly section: number;
  readonly version: string;
  /** Date of the release, so that the same source produces the same page. */
  readonly date: Date;
}

const header = ({ title, section, version, date }: Page) =>
  `.TH ${title.toUpperCase()} ${section} ${date.toISOString().slice(0, 10)} "sno-agents ${version}"`;

const entry = (term: string, text: string) => `.TP\n${term}\n${roff(text)}`;

/** `sno(1)`: every command with its options (man-pages(7)). */
export function snoManual(root: CommandNode, page: Omit<Page, 'title' | 'section'>): string {
  const commands = allCommands(root).filter((node) => node.commands.length === 0);
  const sections = commands.map((node) =>
    [
      `.SS "${roff([node.path, ...node.arguments.map(({ name }) => name)].join(' '))}"`,
      roff(node.description),
      ...node.arguments.map(({ name, description }) => entry(bold(name), description)),
      ...node.options.map(({ flags, description }) => entry(bold(flags), description)),
    ].join('\n'),
  );
  return `${[
    header({ ...page, title: root.name, section: 1 }),
    `.SH NAME\n${root.name} \\- ${roff(root.description)}`,
    `.SH SYNOPSIS\n${bold(root.name)} \\fIcommand\\fR [\\fIoptions\\fR]`,
    '.SH COMMANDS',
    ...sections,
    `.SH EXIT STATUS\n${roff('0 done; 2 invalid input or usage, nothing was written; 3 deadline; 4 the installation failed; 128+N stopped by signal N; 1 anything else.')}`,
    '.SH SEE ALSO\n.BR sno\\-agents (8)',
  ].join('\n')}\n`;
}

/** `sno-agents(8)`: every agent with its unit, and the options common to all. */
export function agentsManual(page: Omit<Page, 'title' | 'section'>): string {
  const agents = AGENTS.map(({ name, unit, purpose }) =>
    entry(bold(name), `${purpose} (${unit}.service)`),
  );
  return `${[
    header({ ...page, title: 'sno-agents', section: 8 }),
    '.SH NAME\nsno\\-agents \\- the agents of a single\\-node cluster',
    `.SH SYNOPSIS\n${bold('AGENT')} plan | run [${bold('--from')} \\fIstep\\fR] [${bold('--until')} \\fIstep\\fR] | status [${bold('--json')}]`,
    `.SH DESCRIPTION\n${roff('One executable holds all agents; the name by which it is called selects one. systemd starts them; they can also be run manually.')}`,
    '.SH AGENTS',
    ...agents,
    '.SH OTHER PROGRAMS',
    ...HOST_COMMANDS.map(({ name, purpose }) => entry(bold(name), purpose)),
    '.SH COMMANDS',
    entry(bold('plan'), 'prints the steps, their deadlines and their results'),
    entry(bold('run'), 'runs the plan, or continues where it was interrupted'),
    entry(bold('status'), 'prints the status of the agent'),
    `.SH EXIT STATUS\n${roff('0 done; 1 failed, retryable; 2 wrong usage or configuration; 3 deadline exceeded; 4 failed permanently. systemd restarts after 1 only.')}`,
    `.SH FILES\n${entry('/var/lib/sno\\-agents/\\fIagent\\fR/journal.jsonl', 'the step journal')}\n${entry('/run/sno\\-agents/\\fIagent\\fR/status.json', 'the status, for programs')}`,
    '.SH SEE ALSO\n.BR sno (1),\n.BR journalctl (1)',
  ].join('\n')}\n`;
}
