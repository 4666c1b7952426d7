import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hostPaths } from '../../../lib/host/paths.ts';
import {
  defaultSettings,
  parseSettings,
  readSettings,
  readSoundSettings,
} from '../../../lib/host/settings.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';

t.test("defaults, and values overridden by the host's file", async (t) => {
  const paths = hostPaths(t.testdir());
  t.equal(await readSettings(paths), defaultSettings, 'without a file');
  mkdirSync(paths.config, { recursive: true });
  writeFileSync(`${paths.config}/settings.json`, '{"etcdMs": 1000, "minDiskGB": 0.5}');
  t.strictSame(await readSettings(paths), { ...defaultSettings, etcdMs: 1000, minDiskGB: 0.5 });
  t.strictSame(parseSettings('f', '{}'), defaultSettings);
  t.match(parseSettings('f', '{"approveCertificates": false}'), { approveCertificates: false });
  t.match(parseSettings('f', '{"metricsFolder": "/run/m"}'), { metricsFolder: '/run/m' });
  t.match(parseSettings('f', '{"etcdMs": 2147483647}'), { etcdMs: 2147483647 }, 'the longest');
});

t.test('a setting that is there twice', async (t) => {
  const paths = hostPaths(t.testdir());
  mkdirSync(paths.config, { recursive: true });
  writeFileSync(`${paths.config}/settings.json`, '{"etcdMs": 1000, "etcdMs": 2000}');
  const found = /the same name twice at character 18/;
  t.match(await thrownBy(readSettings(paths)), { kind: 'usage', details: { found } });
  const { settings, fault } = await readSoundSettings(paths);
  t.equal(settings.etcdMs, 2000, 'what nobody attends goes on');
  t.match(fault?.details.found, found);
});

t.test('every name ends with its unit', async (t) => {
  for (const [name, value] of Object.entries(defaultSettings)) {
    if (typeof value === 'boolean') continue;
    if (typeof value === 'string') {
      t.match(name, /Folder$|Recipients$|^tpm2/, name);
      continue;
    }
    t.match(name, /(Ms|Hours|Days|Count|MiB|GiB|GB|Percent|Concurrency)$/, name);
    t.ok(value > 0 && value < 2 ** 31, `${name} can be counted by a timer`);
  }
});

/** How the documentation writes a number in each unit, in the setting's unit. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 1,
  days: 1,
  MiB: 1,
  GB: 1,
  '%': 1,
  '': 1,
};

t.test('the defaults match the documentation', async (t) => {
  const text = readFileSync(
    join(import.meta.dirname, '../../../docs/reference/settings.md'),
    'utf8',
  );
  const rows = text.matchAll(/^\| `(?<name>\w+)` \| (?<count>\d+) ?(?<unit>\S*) \| .+ \|$/gm);
  const switches = [...text.matchAll(/^\| `(?<name>\w+)` \| (?<value>true|false) \| .+ \|$/gm)].map(
    ({ groups: { name = '', value = '' } = {} }) => [name, value === 'true'],
  );
  const documented = [...rows].map(({ groups: { name = '', count = '', unit = '' } = {} }) => [
    name,
    Number(count) * (UNITS[unit] ?? Number.NaN),
  ]);
  const folders = [...text.matchAll(/^\| `(?<name>\w+)` \| `(?<path>\S+)` \| .+ \|$/gm)].map(
    ({ groups: { name = '', path = '' } = {} }) => [name, path],
  );
  const empty = [...text.matchAll(/^\| `(?<name>\w+)` \| none \| .+ \|$/gm)].map(
    ({ groups: { name = '' } = {} }) => [name, ''],
  );
  t.same(defaultSettings, Object.fromEntries([...switches, ...folders, ...empty, ...documented]));
});

t.test('invalid values are refused with file, name and reason', async (t) => {
  const table: [string, RegExp][] = [
    ['{"etcdMs": 0}', /found etcdMs: /],
    ['{"approveCertificates": 0}', /found approveCertificates: expected true or false, found /],
    ['{"approveCertificates": "no"}', /found approveCertificates: expected true or false, found /],
    ['{"etcdMs": true}', /found etcdMs: .*number/],
    ...['metrics', '/', '/a/', '/a/../b', ''].map((path): [string, RegExp] => [
      JSON.stringify({ metricsFolder: path }),
      /found metricsFolder: expected the absolute path of a folder/,
    ]),
    ['{"tpm2Device": "--help"}', /found tpm2Device: expected one word/],
    ...['7+24', '24:sha256', '7:sha256+99:sha256', '7+', '7++8', '7a'].map(
      (given): [string, RegExp] => [
        JSON.stringify({ tpm2Pcrs: given }),
        /found tpm2Pcrs: expected registers from 0 to 23/,
      ],
    ),
    ['{"tpm2Pcrs": "7 8"}', /found tpm2Pcrs: expected one word/],
    ['{"metricsFolder": 1}', /found metricsFolder: expected a text, found a number/],
    ['{"etcdMs": -5}', /found etcdMs: /],
    ['{"etcdMs": "5m"}', /found etcdMs: .*number/],
    ['{"etcdMs": null}', /found etcdMs: /],
    ['{"etcdMs": 1e999}', /found etcdMs: /],
    ['{"etcdMs": 2147483648}', /found etcdMs: .*2147483647/],
    ['{"backupDiskSharePercent": 101}', /found backupDiskSharePercent: .*100/],
    [
      '{"backupKeepCount": 1.5}',
      /found backupKeepCount: expected a whole number, found another number/,
    ],
    [
      '{"manifestsConcurrency": 2.5}',
      /found manifestsConcurrency: expected a whole number, found another number/,
    ],
    [
      '{"gatherConcurrency": 0.5}',
      /found gatherConcurrency: expected a whole number, found another number/,
    ],
    ['{"backupKeepCount": 0}', /found backupKeepCount: /],
    ['{"etcdSeconds": 5}', /found "etcdSeconds", which is no setting\./],
    ['{"etcdMs": 0, "restoreMs": "x"}', /etcdMs: .*; restoreMs: /],
    ['[]', /found expected a mapping, found /],
    ['null', /found expected a mapping, found /],
    ['5', /found expected a mapping, found /],
    ['', /found .*JSON/],
    ['{"etcdMs": 5', /found .*JSON/],
    ['{"etcdMs": 5,}', /found .*JSON/],
  ];
  for (const [text, message] of table) {
    const parse = () => parseSettings('/etc/sno-agents/settings.json', text);
    t.throws(parse, { kind: 'usage', message }, text);
    t.throws(parse, {
      message:
        /^the settings in \/etc\/sno-agents\/settings\.json cannot be used; expected a JSON object of settings with positive numbers/,
    });
  }
});

t.test('registers of a TPM, by number and name', async (t) => {
  for (const tpm2Pcrs of ['7', '0+7', '7:sha256', '23+secure-boot-policy']) {
    t.match(parseSettings('settings.json', JSON.stringify({ tpm2Pcrs })), { tpm2Pcrs });
  }
});

t.test('unattended: what is sound of a file counts, and the default of the rest', async (t) => {
  const paths = hostPaths(t.testdir());
  mkdirSync(paths.config, { recursive: true });
  const path = `${paths.config}/settings.json`;
  const read = (text: string) => {
    writeFileSync(path, text);
    return readSoundSettings(paths);
  };
  t.strictSame(await read('{"etcdMs": 1000}'), {
    settings: { ...defaultSettings, etcdMs: 1000 },
  });
  const { settings, fault } = await read(
    '{"etcdMs": 1000, "trialRevertMS": 5, "backupKeepCount": 1.5, "approveCertificates": false, "__proto__": {"restoreMs": 1}}',
  );
  t.strictSame(settings, { ...defaultSettings, etcdMs: 1000, approveCertificates: false });
  t.match(fault?.message, /backupKeepCount: .*trialRevertMS/s);
  t.match((await read('[1]')).fault?.message, /a mapping/);
  await t.rejects(readSettings(paths), { kind: 'usage', message: /a mapping/ });
});
