/** What people type who know other installers, and what there is instead. */
const HABITS: Readonly<Record<string, string>> = {
  'agent create cluster-manifests':
    'put your manifests into DIR/manifests; "sno create single-node-ignition-config" includes them',
  'agent create config-image':
    '"sno create single-node-iso --dir DIR --iso LIVE.iso --payload PAYLOAD"',
  'agent create image': '"sno create single-node-iso --dir DIR --iso LIVE.iso --payload PAYLOAD"',
  'agent create pxe-files':
    '"sno create single-node-ignition-config --dir DIR --agents-url URL --payload-url URL"',
  'agent create': '"sno create single-node-iso --dir DIR --iso LIVE.iso --payload PAYLOAD"',
  'agent wait-for bootstrap-complete': '"sno wait-for bootstrap-complete --dir DIR"',
  'agent wait-for install-complete': '"sno wait-for install-complete --dir DIR"',
  'agent wait-for': '"sno wait-for install-complete --dir DIR"',
  agent: '"sno create single-node-iso --dir DIR --iso LIVE.iso --payload PAYLOAD"',
  coreos: 'take the live ISO of your operating system; "sno create single-node-iso --iso" names it',
  'create cluster':
    'nothing here switches a machine on: "sno create single-node-iso", boot it, then "sno wait-for install-complete"',
  'create ignition-configs': '"sno create single-node-ignition-config --dir DIR --payload PAYLOAD"',
  'create manifests':
    'put your manifests into DIR/manifests; "sno create single-node-ignition-config" includes them',
  destroy: 'nothing outside of the host belongs to the cluster: switch it off and erase its disk',
  gather:
    'run installer-gather.sh on the host as root, copy its log bundle, then "sno analyze BUNDLE" here',
  graph: '"sno explain topology"',
  migrate: '"sno create update" for updates, "sno create site-volume" for another site',
};

/** The one line for such words; undefined if they are no habit. `args`: without what comes before the first word. */
export function habitOf(args: readonly string[]): string | undefined {
  const end = args.findIndex((word) => word.startsWith('-'));
  const words = end < 0 ? args : args.slice(0, end);
  for (let count = Math.min(3, words.length); count > 0; count -= 1) {
    const typed = words.slice(0, count).join(' ');
    const instead = Object.hasOwn(HABITS, typed) ? HABITS[typed] : undefined;
    if (instead !== undefined) return `sno has no command ${typed}. Instead: ${instead}`;
  }
  return undefined;
}

/** Options that openshift-install takes anywhere. */
const GLOBAL = /^--(?:dir|log-level)(?:=|$)/;

/**
 * The command line with the options that were written before the command behind it, and `help COMMAND...` as
 * `COMMAND... --help`.
 */
export function usualOrder(args: readonly string[]): string[] {
  const rest = [...args];
  const moved: string[] = [];
  while (GLOBAL.test(rest[0] ?? '')) {
    const option = rest.shift() ?? '';
    moved.push(option, ...(option.includes('=') ? [] : rest.splice(0, 1)));
  }
  const [first, ...words] = rest;
  if (first === 'help' && moved.length === 0) return [...words, '--help'];
  // What follows is not for sno.
  const end = rest.indexOf('--');
  return end < 0 ? [...rest, ...moved] : [...rest.slice(0, end), ...moved, ...rest.slice(end)];
}
