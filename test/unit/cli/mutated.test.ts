import t from 'tap';
import { configNotices } from '../../../cli/create/site-notices.ts';
import { INSTALL_CONFIG } from '../../../cli/install-config/file-name.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { clusterSchema } from '../../../lib/config/cluster/cluster.ts';
import { faultText } from '../../../lib/config/file/fault.ts';
import { accepted } from './accepted.ts';
import { edited, GOOD } from './install-config-file.ts';

const MUTANTS = 300;

/** Pseudo-random numbers, the same in every run (Numerical Recipes). */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}
const random = numbers(9);
const below = (limit: number) => Math.floor(random.next().value * limit);
const oneOf = <Item>(items: readonly [Item, ...Item[]]): Item =>
  items[below(items.length)] ?? items[0];

const TOKENS = [
  ...([
    'null',
    '~',
    '',
    '[]',
    '{}',
    '[[]]',
    '{a: {}}',
    '""',
    "'",
    '"',
    'yes',
    '0',
    '-1',
    '0777',
    '1e999',
  ] as const),
  ...[
    '.nan',
    '0x10',
    '!!str',
    '!x',
    '&a',
    '*a',
    '<<: *a',
    '<<: {a: 1}',
    '? ',
    ': ',
    '- ',
    '#',
    '|',
    '>',
    '---',
    '...',
  ],
  ...[
    '%YAML 1.1',
    '__proto__',
    'constructor',
    'toString',
    '\\e[31m',
    '"\\x9b"',
    '\u202e',
    '\t',
    '\r',
    '\u0085',
    '😀',
  ],
  ...[
    '{toString: 1}',
    '{valueOf: {}}',
    '[null]',
    '[1, {a: b}]',
    '{cidr: null}',
    '1.5',
    '99999999999999999999',
    '::',
    '/',
  ],
] as const;

const MUTATIONS = [
  (text: string) => cut(text, below(text.length), below(12)),
  (text: string) => insert(text, below(text.length), oneOf(TOKENS)),
  (text: string) => text.replace(oneOf(valuesOf(text)), () => oneOf(TOKENS)),
  (text: string) => lines(text, (all) => all.toSpliced(below(all.length), 1)),
  (text: string) =>
    lines(text, (all) => all.toSpliced(below(all.length), 0, all[below(all.length)] ?? '')),
  (text: string) =>
    lines(text, (all) => all.with(below(all.length), `  ${all[below(all.length)]}`)),
  (text: string) => insert(text, below(text.length), String.fromCodePoint(below(0x300))),
] as const;

const cut = (text: string, at: number, length: number) =>
  text.slice(0, at) + text.slice(at + length);
const insert = (text: string, at: number, more: string) =>
  text.slice(0, at) + more + text.slice(at);
const lines = (text: string, change: (all: string[]) => string[]) =>
  change(text.split('\n')).join('\n');
const valuesOf = (text: string): [string, ...string[]] => [
  'v1',
  ...(text.match(/(?<=: )\S+$/gm) ?? []),
];

const NETWORK = `
  networkConfig:
    interfaces:
    - {name: bond0, type: bond, link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}}
    - name: bond0.5
      type: vlan
      vlan: {base-iface: bond0, id: 5}
      ipv4: {enabled: true, address: [{ip: 192.168.7.10, prefix-length: 24}]}
    routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.168.7.1, next-hop-interface: bond0.5}]}
    dns-resolver: {config: {server: [192.168.7.1]}}
  kernelArguments: [nosmt]
  savePartitions: {labels: [data], indexes: [5]}
  additionalNTPSources: [ntp.example.com]
`;
const SEEDS = [
  GOOD,
  edited([['  existingSystem: overwrite\n', NETWORK.slice(1)]]),
  ...accepted.map(({ edits }) => edited(edits)),
] as const;

t.test('any file is either accepted completely or refused with single-line messages', async (t) => {
  let refused = 0;
  for (let count = 0; count < MUTANTS; count += 1) {
    let text = oneOf(SEEDS);
    for (let times = 1 + below(4); times > 0; times -= 1) text = oneOf(MUTATIONS)(text);
    const answer = answerTo(text);
    if (answer === 'refused') refused += 1;
    else if (answer !== 'accepted') t.fail(answer, { text });
  }
  t.ok(refused > MUTANTS / 4 && refused < MUTANTS, `${refused} of ${MUTANTS} are refused`);
});

function answerTo(text: string): string {
  try {
    const read = readInstallSettings(text, '/dev/disk/by-id/wwn-0x1');
    const said = read.ok
      ? configNotices(read.settings)
      : read.faults.map((fault) => faultText(fault, INSTALL_CONFIG));
    if (read.ok) {
      const made = {
        clusterId: '6f1c2a52-94d4-4c5b-9f4f-0c38e0a3b1aa',
        executableSha256: 'a'.repeat(64),
      };
      clusterSchema.parse({ ...read.settings.cluster, ...made });
    }
    const bad = said.find(
      (line) => line.length > 2_000 || /\p{Cc}|\p{Cf}|undefined|\[object/u.test(line),
    );
    if (bad !== undefined) return `is no clear line: ${bad}`;
    return read.ok ? 'accepted' : 'refused';
  } catch (error) {
    return `throws ${error instanceof Error ? error.stack : error}`;
  }
}
