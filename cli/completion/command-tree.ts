import type { Command } from 'commander';

/** A command with its options and subcommands, as man pages and shell completions need it. */
export interface CommandNode {
  /** `sno create single-node-iso` */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
}

export interface OptionNode {
  /** `--dir <folder>` */
  readonly flags: string;
  /** `--dir` */
  readonly long: string;
  readonly description: string;
}

/** The tree below a command, without `help`. */
export function commandTree(command: Command, above = ''): CommandNode {
  const path = [above, command.name()].filter((part) => part !== '').join(' ');
  return {
    path,
    name: command.name(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      description: argument.description,
    })),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map(({ flags, long, short, description }) => ({
        flags,
        long: long ?? short ?? flags,
        description,
      })),
    commands: command.commands
      .filter((child) => child.name() !== 'help')
      .map((child) => commandTree(child, path)),
  };
}

/** The command and all its subcommands, parents first. */
export function allCommands(node: CommandNode): CommandNode[] {
  return [node, ...node.commands.flatMap(allCommands)];
}
