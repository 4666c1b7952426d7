import { globSync } from 'node:fs';
import t from 'tap';
import { allCommands } from '../../../cli/completion/command-tree.ts';
import { snoTree } from '../../../cli/completion/sno-tree.ts';
import { hostCommandNames } from '../../../lib/engine/agents/commands.ts';
import { AGENTS } from '../../../lib/engine/agents/table.ts';
import { documents, read, root } from './documents.ts';

/** Of the operating system: of systemd, util-linux, coreutils and their like, and what a host needs anyway. */
const SYSTEM = [
  ...['systemctl', 'journalctl', 'timedatectl', 'hostnamectl', 'systemd-cgtop', 'udevadm'],
  ...['cat', 'cp', 'date', 'du', 'grep', 'sort', 'nft', 'nmcli', 'chronyc'],
];
/** Of one of the two container runtimes, with which it comes. */
const RUNTIME = ['ctr', 'crio', 'podman'];
/** Where kubectl, oc and the programs of the project are, with a kubeconfig. */
const LAPTOP = ['kubectl', 'oc', 'sno', 'openshift-install', 'openssl', 'npm', 'skopeo'];
/** Named as what some images have only, or of systems that only have deployments if they have it. */
const WHERE_THERE = ['smartctl', 'nvme', 'fuser', 'rpm-ostree'];
/** Messages that advice quotes. */
const QUOTED = ['slow', 'no', 'container', 'server', 'this', 'command', 'quoted', 'a'];

const OURS = [...AGENTS.map(({ name }) => name), ...hostCommandNames];
const HAS = new Set<string>([...SYSTEM, ...RUNTIME, ...LAPTOP, ...OURS, ...WHERE_THERE, ...QUOTED]);

/** Words in double quotes, with an argument: a command, or a message. A literal of the source ends its line. */
const COMMAND = /(?<!^\s*)"([a-z][\w.-]*) ([^"\n]+)"(?![,;)]*$)/gm;
const WORDS_OF_FIX = 4;

/** What the rules of the report say, and what failures say to do. */
function advice(): { file: string; text: string }[] {
  const report = globSync('report/{rules,reading}/*.ts', { cwd: root });
  const others = globSync('{agents,lib,cli}/**/*.ts', { cwd: root });
  return [
    ...report.map((file) => ({ file, text: read(file) })),
    ...others.flatMap((file) => {
      const lines = read(file).split('\n');
      return lines.flatMap((line, index) =>
        /\bfix\b/i.test(line)
          ? [{ file, text: lines.slice(index, index + WORDS_OF_FIX).join('\n') }]
          : [],
      );
    }),
  ];
}

const commands = advice().flatMap(({ file, text }) =>
  Array.from(text.matchAll(COMMAND), ([, program = '', rest = '']) => ({ file, program, rest })),
);

t.test('every command that an advice names exists where it is to be run', async (t) => {
  t.ok(commands.length > 60, `${commands.length} commands`);
  for (const { file, program, rest } of commands) {
    t.ok(HAS.has(program), `${file}: ${program} ${rest}`);
  }
  for (const { file, rest } of commands) {
    for (const [, piped = ''] of rest.matchAll(/\| (\w+)/g))
      t.ok(HAS.has(piped), `${file}: ${rest}`);
  }
});

t.test('every subcommand of ours that an advice names exists', async (t) => {
  const registered = (pattern: string) =>
    globSync(pattern, { cwd: root }).flatMap((file) =>
      Array.from(
        // Also of the table of commands that reconfigure has for the factory.
        read(file).matchAll(/\.command\(\s*'([\w-]+)|^ {2}(\w+): run[A-Z]/gm),
        ([, name, other = '']) => name ?? other,
      ),
    );
  const folders: Readonly<Record<string, readonly string[]>> = {
    'sno-backup-restore': ['backup'],
    // agents/agents.ts adds the rotations to it.
    'sno-certificates': ['certificates', 'rotate'],
  };
  const ofHost = (agent: string) => [
    ...['plan', 'run', 'status'],
    ...(folders[agent] ?? [agent.replace(/^sno-/, '')]).flatMap((folder) =>
      registered(`agents/upkeep/${folder}/**/*.ts`),
    ),
    ...registered(`agents/${agent.replace(/^sno-/, '')}/**/*.ts`),
  ];
  let checked = 0;
  for (const { file, program, rest } of commands) {
    if (!OURS.some((name) => name === program)) continue;
    const [sub = ''] = rest.split(' ');
    if (sub.startsWith('-')) continue;
    checked += 1;
    t.ok(ofHost(program).includes(sub), `${file}: ${program} ${rest}`);
  }
  t.ok(checked > 10, `${checked} subcommands`);
});

t.test('every option of ours that an advice names exists', async (t) => {
  const ofSno = allCommands(snoTree()).toSorted((a, b) => b.path.length - a.path.length);
  const ofHost = new Set(
    globSync('{agents,lib/engine}/**/*.ts', { cwd: root }).flatMap((file) =>
      Array.from(read(file).matchAll(/'(?:-\w, )?(--[a-z-]+)/g), ([, option = '']) => option),
    ),
  );
  let checked = 0;
  for (const { file, program, rest } of commands) {
    const line = `${program} ${rest}`;
    const isSno = program === 'sno';
    if (!isSno && !OURS.some((name) => name === program)) continue;
    const command = ofSno.find(({ path }) => line === path || line.startsWith(`${path} `));
    const known = isSno ? new Set(command?.options.map(({ long }) => long)) : ofHost;
    for (const [option] of rest.matchAll(/(?<=^| )--[a-z][a-z-]*/g)) {
      checked += 1;
      t.ok(option === '--help' || known.has(option), `${file}: ${line}`);
    }
  }
  t.ok(checked > 10, `${checked} options`);
});

t.test('units that advice has started or read are units of ours or of the system', async (t) => {
  const own = new Set([
    ...globSync('units/**/*.{service,timer,path,socket}', { cwd: root }).map((path) =>
      (path.split('/').at(-1) ?? '').replace(/\.\w+$/, ''),
    ),
    ...['crio', 'containerd', 'chronyd', 'firewalld', 'nftables', 'dnsmasq'],
  ]);
  for (const { file, program, rest } of commands) {
    const [, units = ''] =
      (program === 'systemctl'
        ? /^(?:start|restart|stop|status|list-timers) (.*)/
        : program === 'journalctl'
          ? /^-u (.*)/
          : /^$()/
      ).exec(rest) ?? [];
    for (const unit of units.split(/ (?:-u )?/).filter((name) => /^[a-z]/.test(name))) {
      t.ok(own.has(unit.replace(/\.\w+$/, '')), `${file}: ${program} ${rest}`);
    }
  }
});

t.test('no document tells to run on a host what no host has', async (t) => {
  const shell = (text: string) =>
    Array.from(text.matchAll(/^```(?:sh|bash|text)\n([\s\S]*?)^```$/gm), ([, code = '']) => code);
  for (const file of documents) {
    const code = [
      ...shell(read(file)),
      ...Array.from(read(file).matchAll(/"[a-z][^"\n]* [^"\n]*"/g), ([all]) => all),
    ];
    for (const text of code)
      t.notMatch(text, /\b(?:crictl|etcdctl (?!snapshot save)|iostat|fio --)/, file);
  }
});
