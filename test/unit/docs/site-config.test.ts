/** What is documented about site-config.yaml is accepted, and its JSON Schema knows what is wrong. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { parse } from 'yaml';
import { siteConfigJsonSchema } from '../../../cli/explain/config-schemas.ts';
import { readTable } from '../../../cli/site/table.ts';
import { filledTemplate, placeholdersIn } from '../../../cli/site/template.ts';
import { EXAMPLE_SITE_CONFIG } from '../../../docs/site-config-reference.ts';
import { readSiteConfig } from '../../../lib/config/site-config/read.ts';
import { facts, NOW } from '../relocation/site-volume/volumes.ts';
import { read } from './documents.ts';

const guide = read('docs/relocation.md');
const context = { files: new Map(), now: NOW };
const schema = siteConfigJsonSchema();
const validate = new Ajv2020({ allErrors: true, strictTypes: false }).compile({ ...schema });
const isValid = (text: string) => validate(parse(text));

t.test('the example is accepted, for any node and for one', async (t) => {
  t.match(readSiteConfig(EXAMPLE_SITE_CONFIG, context), { ok: true });
  const node = { ...facts, identifiers: ['cz1234abcd'] };
  t.match(readSiteConfig(EXAMPLE_SITE_CONFIG, context, node), { ok: true });
  t.equal(isValid(EXAMPLE_SITE_CONFIG), true, JSON.stringify(validate.errors));
});

t.test('the JSON Schema is the one that is published', async (t) => {
  t.same(JSON.parse(read('docs/reference/schemas/site-config.schema.json')), schema);
});

t.test('the JSON Schema refuses', async (t) => {
  for (const [good, bad] of [
    ['api_version: 1', 'api_version: 2'],
    ['cluster_name: shop-0042', 'cluster_name: Shop'],
    ['base_domain: example.com', ''],
    ['hosts: ["CZ1234ABCD"]', 'hosts: []'],
    ['validUntil: 2036-12-31', 'validUntil: soon'],
    ['hostname: ', 'hostnam: '],
    ['servers: [192.168.7.1]', 'servers: [a, b, c, d]'],
    ['{example.com/site: "0042"}', '{example.com/site: 42}'],
  ] as const) {
    t.ok(EXAMPLE_SITE_CONFIG.includes(good), good);
    t.equal(isValid(EXAMPLE_SITE_CONFIG.replace(good, bad)), false, bad || good);
  }
});

t.test('the table of the guide fills its template', async (t) => {
  const [, template = ''] = /```yaml\n(api_version[\s\S]*?)```/.exec(guide) ?? [];
  const [, csv = ''] = /```csv\n([\s\S]*?)```/.exec(guide) ?? [];
  const { rows, faults } = readTable(csv, placeholdersIn(template));
  t.same(faults, []);
  const names = rows.map(({ cells }) => {
    const site = readSiteConfig(filledTemplate(template, cells), context);
    return site.ok ? [site.config.clusterName, site.config.serial] : site.faults;
  });
  t.same(names, [
    ['shop-0042', 1],
    ['shop-0043', 1],
  ]);
});
