import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultSettings } from '../lib/host/settings.ts';
import { row, table } from './markdown-table.ts';

const FOLDER = join(import.meta.dirname, '../lib/host/settings');
/** In the order of an installation. */
const FILES = [
  'all-agents',
  'live',
  'installed',
  'aio-and-workers',
  'certificates',
  'backup',
  'changes',
  'site',
  'gather',
];
const TITLE = /^\/\*\* (.+)\. \*\/\nexport const/m;
const SETTING = /^ {2}\/\*\*(?<meaning>[\s\S]*?)\*\/\n {2}(?<name>\w+):/gm;

/** Every setting with its default, and the sentence above it in the source, as Markdown. */
export function settingsReference(): string {
  const sections = FILES.map((file) => sectionOf(readFileSync(join(FOLDER, `${file}.ts`), 'utf8')));
  return `# settings.json

Generated from the code by \`docs/generate.ts\`; do not edit. Every deadline, interval and threshold of the agents, one
switch and four words. \`/etc/sno-agents/settings.json\` on the host overrides any of them with a JSON object of names and
positive numbers (the switch: \`true\` or \`false\`; the words: text); the end of a name is the unit of its number (\`Ms\` is
milliseconds, \`GB\` 10⁹ bytes). [operator.md](../operator.md#settingsjson) says how the file gets there.

${sections.join('\n')}`;
}

function sectionOf(source: string): string {
  const title = TITLE.exec(source)?.[1];
  if (title === undefined) throw new Error('a file of settings begins with its title');
  const rows = Array.from(source.matchAll(SETTING), ({ groups }) => {
    const { name = '', meaning = '' } = groups ?? {};
    const sentence = meaning.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim();
    return row([`\`${name}\``, valueText(name), sentence.replace(/\.$/, '')]);
  });
  return `## ${title}\n\n${table(['Name', 'Default', 'Meaning'], rows)}\n`;
}

const UNITS: readonly (readonly [suffix: RegExp, text: string])[] = [
  [/Hours$/, ' h'],
  [/Days$/, ' days'],
  [/MiB$/, ' MiB'],
  [/GB$/, ' GB'],
  [/Percent$/, ' %'],
  [/(Count|Concurrency)$/, ''],
];

function valueText(name: string): string {
  const value: unknown = Reflect.get(defaultSettings, name);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return value === '' ? 'none' : `\`${value}\``;
  if (typeof value !== 'number') throw new Error(`${name} is described, and is no setting`);
  if (name.endsWith('Ms')) {
    return value % 60_000 === 0 ? `${value / 60_000} min` : `${value / 1000} s`;
  }
  const unit = UNITS.find(([suffix]) => suffix.test(name));
  if (unit === undefined) throw new Error(`the unit of ${name} is unknown`);
  return `${value}${unit[1]}`;
}
