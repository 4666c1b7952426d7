import { runSno } from '../cli/sno.ts';

/** What `sno --help` prints, for the program and for each of its commands, as Markdown. */
export async function snoReference(signal: AbortSignal): Promise<string> {
  const sections = await sectionsOf([], signal);
  return `# sno

Generated from the code by \`docs/generate.ts\`; do not edit. For a guide, see [Preparing an installation](../operator.md).

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

async function helpOf(command: readonly string[], signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const code = await runSno([...command, '--help'], {
    environment: {},
    print,
    complain: print,
    signal,
  });
  if (code !== 0) throw new Error(`sno ${command.join(' ')} --help: ${lines.join(' | ')}`);
  return `${lines.join('\n')}\n`;
}

/** The names below "Commands:", but for the help itself. */
function commandsIn(help: string): string[] {
  const [, list = ''] = /^Commands:\n((?: {2}.*\n?)*)/m.exec(help) ?? [];
  const names = Array.from(list.matchAll(/^ {2}(\S+)/gm), ([, name = '']) => name);
  return names.filter((name) => name !== 'help');
}
