import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { suggest } from '../../lib/base/errors/suggest.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { plural, some } from '../../report/reading/words.ts';
import { readConfigText } from '../create/read-install-config.ts';
import { readSite } from '../site/read-site.ts';
import { type RowConfig, repeatedIn } from '../site/repeated.ts';
import { readTable, type SiteRow } from '../site/table.ts';
import { filledTemplate } from '../site/template.ts';
import type { Surroundings } from '../surroundings.ts';
import { readClusterInstances } from './cluster-instances.ts';
import { namesIn, requireName, requireNumber } from './names.ts';
import { FIELD_COLUMNS, type RowsOptions, sitesOfRows } from './rows.ts';
import { type SiteSpec, updateSchema } from './site.ts';
import { type FleetTemplate, readTemplate, unfilled } from './template.ts';

export interface ImportSitesOptions {
  readonly table?: string;
  readonly clusterInstances?: string;
  readonly template?: string;
  readonly namespace: string;
  readonly action: SiteSpec['action'];
  readonly templateDir?: string;
  readonly secretValues?: string;
  readonly secrets?: string;
  readonly updateUrl?: string;
  readonly updateSerial?: string;
  readonly json?: true;
}

const MOST_TABLE_BYTES = 16 << 20;
/** `sno create update` counts seconds. */
const MOST_SERIAL = Number.MAX_SAFE_INTEGER;

/**
 * `sno fleet import`: a Site for each row of a table, and the ConfigMap of their template, for `kubectl apply`.
 *
 * @throws Failure (usage), with nothing printed, that names every fault of every row
 */
export async function importSites(
  options: ImportSitesOptions,
  { print, notice, signal }: Surroundings,
): Promise<void> {
  const { action, templateDir, template: map, namespace, json } = options;
  const common = commonOf(options);
  const secretValues = namesIn('--secret-values', options.secretValues);
  const template =
    templateDir === undefined
      ? undefined
      : await readTemplate(templateDir, { action, secretValues }, signal);
  const { path: table, rows, faults, notices } = await readRows(options);
  if (faults.length > 0) throw refused(table, faults);
  const made = sitesOfRows(rows, common);
  const found = [...columnFaults(rows, template, secretValues), ...made.faults];
  const isChecked = template !== undefined && action === 'relocate' && secretValues.length === 0;
  if (isChecked && found.length === 0) found.push(...(await siteFaults(rows, template, signal)));
  if (found.length > 0) throw refused(table, found);
  for (const text of notices) notice(text);
  for (const text of noticesOf(rows, template, isChecked, options)) notice(text);
  const maps =
    template === undefined || map === undefined ? [] : [configMap(map, namespace, template)];
  const list = { apiVersion: 'v1', kind: 'List', items: [...maps, ...made.sites] };
  const head = `# ${plural(made.sites.length, 'Site')} in the namespace ${namespace}: kubectl apply --server-side -f FILE`;
  print(json === true ? JSON.stringify(list, null, 2) : `${head}\n${writeGoYaml(list)}`.trimEnd());
}

interface ReadRows {
  readonly path: string;
  readonly rows: readonly SiteRow[];
  readonly faults: readonly string[];
  readonly notices: readonly string[];
}

/** Of a table, or of ClusterInstances. @throws Failure (usage) */
async function readRows({
  table,
  clusterInstances,
  namespace,
}: ImportSitesOptions): Promise<ReadRows> {
  if (clusterInstances === undefined && table !== undefined) {
    const text = await readConfigText(table, 'another table with --table', MOST_TABLE_BYTES);
    return { path: table, ...readTable(text, []), notices: [] };
  }
  if (clusterInstances === undefined || table !== undefined) {
    throw new Failure('usage', 'the sites are not known; nothing was printed', {
      expected: 'either --table or --cluster-instances',
    });
  }
  const option = 'another file with --cluster-instances';
  const text = await readConfigText(clusterInstances, option, MOST_TABLE_BYTES);
  const { unmapped, namespaces, ...read } = readClusterInstances(text);
  const notices = [...unmapped].map(
    ([field, count]) => `${field} of ${plural(count, 'ClusterInstance')} becomes no value`,
  );
  const others = [...namespaces].filter((each) => each !== namespace);
  if (others.length > 0) {
    notices.push(
      `a BareMetalHost has to be in the namespace of its Site, ${namespace}; these ClusterInstances are elsewhere: ${some(others)}`,
    );
  }
  return { path: clusterInstances, ...read, notices };
}

/** @throws Failure (usage) */
function commonOf(options: ImportSitesOptions): RowsOptions {
  const { namespace, template, action, templateDir } = options;
  requireName('--namespace', namespace);
  if (template !== undefined) requireName('--template', template);
  const needsOne = action === 'relocate' || action === 'install' || templateDir !== undefined;
  if (needsOne && template === undefined) {
    throw new Failure('usage', '--template is missing', {
      expected: 'the ConfigMap with the template of these sites',
    });
  }
  const update = updateOf(options);
  return {
    namespace,
    ...(template === undefined ? {} : { template }),
    action,
    secrets: namesIn('--secrets', options.secrets).map((name) => requireName('--secrets', name)),
    ...(update === undefined ? {} : { update }),
  };
}

/** @throws Failure (usage) */
function updateOf({
  action,
  updateUrl: url,
  updateSerial: text,
}: ImportSitesOptions): SiteSpec['update'] {
  const isUpdate = action === 'update';
  if (isUpdate !== (url !== undefined) || isUpdate !== (text !== undefined)) {
    throw new Failure('usage', `--action ${action} does not fit the other options`, {
      expected: '--update-url and --update-serial with --action update, and neither without',
    });
  }
  if (url === undefined || text === undefined) return undefined;
  const serial = requireNumber('--update-serial', text, { least: 1, most: MOST_SERIAL });
  const parsed = updateSchema.safeParse({ url, serial });
  if (parsed.success) return parsed.data;
  throw new Failure('usage', '--update-url is not an address that can be used', {
    expected: 'http:// or https:// and a path, without a user and a query',
    found: JSON.stringify(url.slice(0, 80)),
  });
}

const columnsOf = ([first]: readonly SiteRow[]): string[] => Object.keys(first?.cells ?? {});

function columnFaults(
  rows: readonly SiteRow[],
  template: FleetTemplate | undefined,
  secretValues: readonly string[],
): string[] {
  const columns = columnsOf(rows);
  const values = columns.filter((name) => !FIELD_COLUMNS.some((field) => field === name));
  const known = ['site', ...(template?.placeholders ?? values), ...secretValues];
  return [
    // As a value it would be passed over, and with hostFacts the encryption.
    ...values
      .filter((name) => !known.includes(name))
      .flatMap((name) => {
        const meant = suggest(name, FIELD_COLUMNS);
        return meant === undefined ? [] : [`column ${name}: did you mean ${meant}?`];
      }),
    ...columns
      .filter((name) => secretValues.includes(name))
      .map((name) => `column ${name}: expected none, since --secret-values names it`),
    ...unfilled(template?.placeholders ?? [], values, secretValues).map((name) =>
      columns.includes(name)
        ? `${template?.file}: \${${name}}: the column ${name} is a field of the Site and no value. Give the value another name`
        : `${template?.file}: \${${name}}: expected a column ${name}, or its name in --secret-values`,
    ),
  ];
}

/** What `sno create site-volumes` would say of the rows: better here than in a wave. */
async function siteFaults(
  rows: readonly SiteRow[],
  { text, dir, file }: FleetTemplate,
  signal: AbortSignal,
): Promise<string[]> {
  const configs: RowConfig[] = [];
  const found: string[] = [];
  const now = new Date();
  for (const { line, cells } of rows) {
    try {
      const source = { dir, name: file, text: filledTemplate(text, cells) };
      const { config } = await readSite(source, { facts: undefined, now, signal });
      configs.push({ line, config });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      found.push(`line ${line} (${cells.site}): ${describeError(error)}`);
    }
  }
  return [...found, ...repeatedIn(configs)];
}

function* noticesOf(
  rows: readonly SiteRow[],
  template: FleetTemplate | undefined,
  isChecked: boolean,
  { action, secrets, secretValues, clusterInstances }: ImportSitesOptions,
): Generator<string> {
  if (template === undefined) {
    if (action === 'update' || action === 'none') return;
    yield 'without --template-dir, the columns were not compared with the placeholders of the template';
    return;
  }
  if (!isChecked) {
    yield `the rows are not checked by the rules of ${template.file}, since not all values are known here: the first canary shows it`;
  }
  for (const path of template.skipped) {
    yield `${path} is not a manifest, and is not in the template`;
  }
  if (secretValues !== undefined && secrets === undefined) {
    yield 'no Secret has the values of --secret-values: name them with --secrets';
  }
  const known = ['site', ...FIELD_COLUMNS, ...template.placeholders];
  // Those of ClusterInstances are always the same.
  const columns = clusterInstances === undefined ? columnsOf(rows) : [];
  for (const name of columns.filter((column) => !known.includes(column))) {
    yield `the column ${name} is used nowhere: the template has no placeholder of this name`;
  }
}

const configMap = (name: string, namespace: string, { data }: FleetTemplate) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

const refused = (table: string, faults: readonly string[]) =>
  new Failure(
    'usage',
    [
      `${plural(faults.length, 'error')}; nothing was printed`,
      ...faults.map((fault) => `${table}: ${fault}`),
    ].join('\n'),
  );
