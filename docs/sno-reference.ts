import { join } from 'node:path';
import { execa } from 'execa';

const root = join(import.meta.dirname, '..');
const COMMAND_DEADLINE_MS = 20_000;

/** What `sno --help` prints, for the program and for each of its commands, as Markdown. */
export async function snoReference(signal: AbortSignal): Promise<string> {
  const sections = await sectionsOf([], signal);
  return `# sno

Made from the code by \`docs/generate.ts\`; do not edit. Explained in [the operator's page](../operator.md).

${sections.join('\n')}`;
}

async function sectionsOf(command: readonly string[], signal: AbortSignal): Promise<string[]> {
  const help = await helpOf(command, signal);
  const sections = [
    `## ${['sno', ...command].join(' ')}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`,
  ];
  for (const name of commandsIn(help)) {
    sections.push(...(await sectionsOf([...command, name], signal)));
  }
  return sections;
}

/** By a process of its own: into a pipe, the help has the same width everywhere. */
async function helpOf(command: readonly string[], signal: AbortSignal): Promise<string> {
  const { stdout } = await execa(
    process.execPath,
    [join(root, 'cli/main.ts'), ...command, '--help'],
    { timeout: COMMAND_DEADLINE_MS, cancelSignal: signal },
  );
  return stdout;
}

/** The names below "Commands:", but for the help itself. */
function commandsIn(help: string): string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n?)*)/m.exec(help) ?? [];
  const names = Array.from(list.matchAll(/^ {2}(\S+)/gm), ([, name = '']) => name);
  return names.filter((name) => name !== 'help');
}
