import t from 'tap';
import { analyze } from '../../../report/report.ts';
import { reportSchema } from '../../../report/schema.ts';
import { agentCases } from './cases-agents.ts';
import { apiCases } from './cases-api.ts';
import { backupCases } from './cases-backups.ts';
import { csrCases } from './cases-csr.ts';
import { deploymentCases } from './cases-deployments.ts';
import { diskCases } from './cases-disks.ts';
import { dnsCases } from './cases-dns.ts';
import { hostCases } from './cases-host.ts';
import { identityCases } from './cases-identity.ts';
import { renewalCases } from './cases-renewal.ts';
import { trialCases } from './cases-trial.ts';
import { waitingCases } from './cases-waiting.ts';
import { workloadCases } from './cases-workload.ts';
import { filesOf, viewOf } from './view.ts';

type Files = Record<string, string>;

/** The note about a rule or a part of the report that threw. */
const STUMBLED = /^The (rule \S+ could not be applied|.* could not be determined): /;

const cases = [
  ...agentCases,
  ...apiCases,
  ...backupCases,
  ...csrCases,
  ...diskCases,
  ...dnsCases,
  ...hostCases,
  ...deploymentCases,
  ...identityCases,
  ...renewalCases,
  ...trialCases,
  ...waitingCases,
  ...workloadCases,
];
/** Every path that a rule reads, with contents that the rule understands. */
const everything: Files = Object.assign(
  {},
  filesOf('healthy'),
  ...cases.map(({ files }) => files),
  filesOf('broken'),
);

/** The same numbers in each run, so that failures are reproducible. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const damages: Readonly<Record<string, (text: string, random: () => number) => string>> = {
  empty: () => '',
  null: () => 'null',
  list: () => '[null, 1, "x", [], {}, [[]]]',
  'list of wrong things': () =>
    '{"items":[null,1,{"metadata":null},{"metadata":{"name":7}},{"metadata":{"name":"x","creationTimestamp":"never"},"status":{"conditions":{"length":9}}}],"steps":[{}],"step":[]}',
  'an object where a list was': (text) => text.replaceAll('[', '{"0":').replaceAll(']', '}'),
  'cut in the middle': (text) => text.slice(0, text.length / 2),
  'times that are none': (text) =>
    text.replaceAll(/\d{4}-\d\d-\d\d/g, '9999-99-99').replaceAll(/"\d{16}"/g, '"1e300"'),
  'times far away': (text) => text.replaceAll(/20\d\d-(\d\d-\d\d)/g, '0001-$1'),
  'numbers that are none': (text) => text.replaceAll(/: ?-?\d[\d.]*/g, ': -1e999'),
  bytes: (_text, random) =>
    Array.from({ length: 400 }, () => String.fromCharCode(random() * 0x1_00_00)).join(''),
  'bytes in between': (text, random) => {
    const at = Math.floor(random() * text.length);
    return `${text.slice(0, at)}\u0000\ufffd\n\u001b${text.slice(at + 1)}`;
  },
  'texts where numbers were': (text) => text.replaceAll(/: (-?\d[\d.]*)/g, ': "$1"'),
  'numbers where texts were': (text) => text.replaceAll(/: "[^"]*"/g, ': 7'),
  'lines of Windows': (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`,
  'every other line': (text) => text.replaceAll(/(.*\n).*\n/g, '$1'),
  'numbers below zero': (text) => text.replaceAll(/(?<=[ :"])(\d)/g, '-$1'),
  'years that no date has': (text) => text.replaceAll(/20\d\d-(\d\d-\d\d)/g, '+275760-$1'),
  'one endless line': (text) => text.replaceAll('\n', ' ').repeat(20),
  'a prototype': () => '{"__proto__":{"items":[1]},"constructor":{"prototype":1},"toString":1}',
};

for (const [name, damage] of Object.entries(damages)) {
  t.test(`${name}: no rule throws, in one file or in all`, async (t) => {
    const random = numbers(name.length);
    const paths = Object.keys(everything);
    const damaged = (wanted: (path: string) => boolean): Files =>
      Object.fromEntries(
        paths.map((path) => {
          const text = everything[path] ?? '';
          return [path, wanted(path) ? damage(text, random) : text];
        }),
      );
    const everywhere = damaged(() => true);
    const halves = Array.from({ length: 4 }, () => damaged(() => random() < 0.5));
    for (const files of [everywhere, ...halves]) {
      const report = reportSchema.parse(analyze(viewOf(files)));
      t.strictSame(
        report.findings.filter(({ title }) => STUMBLED.test(title)).map(({ title }) => title),
        [],
      );
    }
  });
}

t.test('what a stranger has a log quote, again and again, is not searched for hours', async (t) => {
  const path = 'control-plane/master/journals/kubelet.log';
  const line = (text: string) =>
    `2026-11-21T15:18:00.100000+0000 sno-0 kubelet[242]: "Probe failed" output="${text.repeat(60_000 / text.length)}"\n`;
  const quoted = [
    'PullImage failed ',
    'PullImage failed image ',
    'Failed to pull image ',
    ':6443: ',
    ':6443:',
    'exec: \\"/a ',
    'Killed process 1 (',
    'current time ',
    'failed calling webhook ',
  ];
  const titles = (files: Files) => analyze(viewOf(files)).findings.map(({ title }) => title);
  const files = filesOf('broken');
  const log = `${files[path]}${quoted.map((text) => line(text).repeat(3)).join('')}`;
  t.strictSame(titles({ ...files, [path]: log }), titles(files));
});
