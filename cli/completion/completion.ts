import { allCommands, type CommandNode } from './command-tree.ts';

/** What may follow a command: its subcommands, or its options and files. */
function wordsAfter(node: CommandNode): string[] {
  const names = node.commands.map(({ name }) => name);
  return [...names, ...node.options.map(({ long }) => long), '--help'];
}

/** Completion for bash (for bash-completion's folder `completions/`). */
export function bashCompletion(root: CommandNode): string {
  const cases = allCommands(root).map(
    (node) => `    '${node.path}') words='${wordsAfter(node).join(' ')}' ;;`,
  );
  return `# bash completion for ${root.name}; generated
_${root.name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} path=${root.name} word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) break ;; *) path="$path $word" ;; esac
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${root.name} ${root.name}
`;
}

/** Completion for zsh (for a folder in \`fpath\`), using zsh's support for bash completions. */
export function zshCompletion(root: CommandNode): string {
  return `#compdef ${root.name}
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(root)}`;
}

/** Completion for fish (for \`vendor_completions.d\`). */
export function fishCompletion(root: CommandNode): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = allCommands(root).flatMap((node) => {
    const [, ...names] = node.path.split(' ');
    const others = node.commands.map(({ name }) => name).join(' ');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const open = others === '' ? [] : [`not __fish_seen_subcommand_from ${others}`];
    const when = [...seen, ...open].join('; and ');
    const condition = when === '' ? '' : ` -n ${quoted(when)}`;
    return [
      ...node.commands.map(
        ({ name, description }) =>
          `complete -c ${root.name}${condition} -a ${name} -d ${quoted(description)}`,
      ),
      ...node.options.map(
        ({ long, description }) =>
          `complete -c ${root.name}${condition} -l ${long.replace(/^--/, '')} -d ${quoted(description)}`,
      ),
    ];
  });
  return `# fish completion for ${root.name}; generated\n${lines.join('\n')}\n`;
}
