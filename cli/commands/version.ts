import { Argument, type Command } from 'commander';
import { commandTree } from '../completion/command-tree.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/completion.ts';
import { versionText } from '../explain/versions.ts';
import type { Surroundings } from '../surroundings.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

/** `sno version`, and `sno completion SHELL`. */
export function addVersion(sno: Command, { print }: Surroundings): void {
  sno
    .command('version')
    .description('print the version, and the versions of Kubernetes and etcd that it installs')
    .action(() => print(versionText()));
  sno
    .command('completion')
    .description('print the completion for a shell, such as for: source <(sno completion bash)')
    .addArgument(new Argument('<shell>').choices(Object.keys(SHELLS)))
    .action((shell: Shell) => print(SHELLS[shell](commandTree(sno)).trimEnd()));
}
