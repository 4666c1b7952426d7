/** Every file of docs/examples is read by the parser of the product, as where it belongs. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { aioNotices, configNotices } from '../../../cli/create/site-notices.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { readTable } from '../../../cli/site/table.ts';
import { filledTemplate, placeholdersIn } from '../../../cli/site/template.ts';
import { readEntry } from '../../../lib/cluster/workers/entry.ts';
import { readSiteConfig } from '../../../lib/config/site-config/read.ts';
import { parseSettings } from '../../../lib/host/settings.ts';
import { facts, NOW } from '../relocation/site-volume/volumes.ts';
import { read, root } from './documents.ts';

const FOLDER = 'docs/examples';
const context = { files: new Map(), now: NOW };
const node = { ...facts, identifiers: ['cz1234abcd'] };

/** What editors and pipelines see of a file. */
function schemaFaults(kind: 'install-config' | 'site-config', text: string): unknown {
  const schema: Record<string, unknown> = JSON.parse(
    read(`docs/reference/schemas/${kind}.schema.json`),
  );
  const validate = new Ajv2020({ allErrors: true, strictTypes: false }).compile(schema);
  return validate(parse(text)) ? [] : validate.errors;
}

/** `expected`: every notice that `sno create` prints of the file. */
function installConfig(
  t: Test,
  text: string,
  { writesDisk, expected }: { readonly writesDisk: boolean; readonly expected: readonly RegExp[] },
): void {
  const given = readInstallSettings(text, undefined, { writesDisk });
  t.same(given.ok ? [] : given.faults, []);
  t.same(schemaFaults('install-config', text), []);
  if (!given.ok) return;
  const notices = (writesDisk ? configNotices : aioNotices)(given.settings, NOW);
  t.match(notices, expected);
  t.equal(notices.length, expected.length);
}

function siteConfig(t: Test, text: string): void {
  const site = readSiteConfig(text, context, node);
  t.same(site.ok ? [] : site.faults, []);
  t.same(schemaFaults('site-config', text), []);
}

/** How each file is read, by its path in the folder. */
const READERS: Readonly<Record<string, (t: Test, text: string) => void>> = {
  'all-in-one/install-config.yaml': (t, text) =>
    installConfig(t, text, { writesDisk: false, expected: [] }),
  'in-place/install-config.yaml': (t, text) =>
    installConfig(t, text, { writesDisk: false, expected: [] }),
  'bootstrap-in-place-static/install-config.yaml': (t, text) =>
    installConfig(t, text, {
      writesDisk: true,
      expected: [/expects these adapters/, /partitions kept/],
    }),
  'bootstrap-in-place/install-config.yaml': (t, text) =>
    installConfig(t, text, { writesDisk: true, expected: [/no hostname/, /no sshKey/] }),
  'many-sites/site-config.yaml': (t, text) => {
    const { rows, unused, faults } = readTable(
      read(`${FOLDER}/many-sites/sites.csv`),
      placeholdersIn(text),
    );
    t.same({ unused, faults }, { unused: [], faults: [] });
    t.equal(rows.length, 2);
    for (const { cells } of rows) {
      const site = readSiteConfig(filledTemplate(text, cells), context);
      t.match(site, { ok: true, config: { clusterName: `shop-${cells.number}` } });
    }
  },
  'many-sites/sites.csv': (t, text) => {
    // The guide shows both files.
    const guide = read('docs/relocation.md');
    const template = read(`${FOLDER}/many-sites/site-config.yaml`).replaceAll(/^#.*\n/gm, '');
    t.ok(guide.includes(`\`\`\`csv\n${text}\`\`\``), 'the table of the guide');
    t.ok(guide.includes(`\`\`\`yaml\n${template}\`\`\``), 'the template of the guide');
  },
  'settings.json': (t, text) => {
    t.match(parseSettings('settings.json', text), JSON.parse(text));
  },
  'site-dhcp/site-config.yaml': siteConfig,
  'site-static/site-config.yaml': siteConfig,
  'workers.d/worker-0.yaml': (t, text) => {
    const entry = readEntry(text, {
      machineNetwork: ['192.168.7.0/24'],
      now: new Date('2030-01-20T12:00:00Z'),
      ownName: 'sno.example.com',
      clusterDomain: 'sno.example.com',
      ownAddresses: ['192.168.7.10'],
      apiNames: [],
    });
    t.match(entry, { worker: { name: 'worker-0' } });
  },
};

const files = readdirSync(join(root, FOLDER), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'README.md')
  .map((entry) => relative(join(root, FOLDER), join(entry.parentPath, entry.name)))
  .toSorted();

t.test('each example has a reader here, and a line in the README', async (t) => {
  t.same(files, Object.keys(READERS).toSorted());
  const page = read(`${FOLDER}/README.md`);
  for (const file of files) t.ok(page.includes(`](${file})`), file);
});

for (const [file, reads] of Object.entries(READERS)) {
  t.test(`the product accepts ${file}`, async (t) => reads(t, read(`${FOLDER}/${file}`)));
}

t.test('the minimal configuration of the guide is the example', async (t) => {
  const example = read(`${FOLDER}/bootstrap-in-place/install-config.yaml`);
  t.ok(read('docs/operator.md').includes(`\`\`\`yaml\n${example}\`\`\``));
});

t.test("the operator's site has the fields of the example", async (t) => {
  const [, block = ''] = /```yaml\n(proxy:[\s\S]*?)```/.exec(read('docs/operator.md')) ?? [];
  const { additionalTrustBundle: _, ...shown } = parse(block);
  t.match(parse(read(`${FOLDER}/bootstrap-in-place-static/install-config.yaml`)), shown);
});
