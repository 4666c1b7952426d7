import { redact } from '../../lib/base/log/redact.ts';
import { API_VERSION, siteUser } from '../../lib/engine/report/site-status.ts';
import type { SiteRow } from '../site/table.ts';
import { isObjectName } from './names.ts';
import { DELIVERIES, type SiteSpec, SPEC_LIMITS, type WrittenSite } from './site.ts';

/** What is the same for all rows. */
export interface RowsOptions {
  readonly namespace: string;
  readonly template?: string;
  readonly action: SiteSpec['action'];
  /** Names of Secrets whose keys are values. */
  readonly secrets: readonly string[];
  readonly update?: SiteSpec['update'];
}

/** Columns that are fields of a Site; every other column is a value of the template. */
export const FIELD_COLUMNS = ['wave', 'serial', 'delivery', 'bareMetalHost', 'hostFacts'] as const;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const SERIAL = /^[1-9]\d{0,8}$/;
/** Of the name in a certificate (X.509, ub-common-name). */
const LONGEST_USER = 64;

/** The Sites of a table, in its order; or each fault of each row, in a line. */
export function sitesOfRows(
  rows: readonly SiteRow[],
  options: RowsOptions,
): { readonly sites: readonly WrittenSite[]; readonly faults: readonly string[] } {
  const faults = [
    // As a value it would encrypt nothing.
    ...(rows[0]?.cells.recipient === undefined
      ? []
      : [
          'column recipient: expected none. A volume is encrypted to the recipient in the facts of its node: name their ConfigMap in a column hostFacts',
        ]),
    ...rows.flatMap((row) => rowFaults(row, options)),
    ...repeated(rows),
  ];
  return { sites: rows.map(({ cells }) => siteOf(cells, options)), faults };
}

type Cells = SiteRow['cells'];

function siteOf(cells: Cells, options: RowsOptions): WrittenSite {
  const { namespace, template, action, secrets, update } = options;
  const { site = '', wave, serial, hostFacts } = cells;
  const delivery = deliveryOf(cells);
  return {
    apiVersion: API_VERSION,
    kind: 'Site',
    metadata: { name: site, namespace, ...(wave ? { labels: { wave } } : {}) },
    spec: {
      action,
      ...(serial ? { serial: Number(serial) } : {}),
      ...(template === undefined ? {} : { templateRef: { name: template } }),
      values: valuesOf(cells),
      ...(secrets.length === 0 ? {} : { secretRefs: secrets.map((name) => ({ name })) }),
      ...(hostFacts ? { hostFactsRef: { name: hostFacts } } : {}),
      ...(delivery === undefined ? {} : { delivery }),
      ...(update === undefined ? {} : { update }),
    },
  };
}

function deliveryOf({ delivery, bareMetalHost }: Cells): SiteSpec['delivery'] {
  const by = DELIVERIES.find((each) => each === (delivery || (bareMetalHost && 'virtualMedia')));
  if (by === undefined) return undefined;
  return { by, ...(bareMetalHost ? { bareMetalHost: { name: bareMetalHost } } : {}) };
}

const isField = (column: string) => FIELD_COLUMNS.some((name) => name === column);

/** `site` is one without being told: the name of the Site. */
const valuesOf = (cells: Cells): Record<string, string> =>
  Object.fromEntries(
    Object.entries(cells).filter(([column]) => column !== 'site' && !isField(column)),
  );

function rowFaults({ line, cells }: SiteRow, { namespace, action }: RowsOptions): string[] {
  const { site = '', wave = '', serial = '', delivery = '' } = cells;
  const { bareMetalHost = '' } = cells;
  const values = Object.entries(valuesOf(cells));
  const unless = (isGood: boolean, column: string, expected: string) =>
    isGood
      ? []
      : [`line ${line}: ${column}: expected ${expected}, found ${shown(cells[column] ?? '')}`];
  const longest = LONGEST_USER - siteUser(namespace, '').length;
  const isKnown = delivery === '' || DELIVERIES.some((each) => each === delivery);
  const byMedia = delivery === 'virtualMedia';
  return [
    ...unless(NAME.test(site), 'site', 'a name of lower-case letters, digits and "-"'),
    ...unless(
      site.length <= longest,
      'site',
      `at most ${longest} characters in the namespace ${namespace}, for the name in its certificate`,
    ),
    ...unless(wave === '' || LABEL.test(wave), 'wave', 'letters, digits, ".", "_" and "-"'),
    ...unless(serial === '' || SERIAL.test(serial), 'serial', 'a number from 1 to 999999999'),
    ...unless(isKnown, 'delivery', DELIVERIES.join(', ')),
    ...['bareMetalHost', 'hostFacts'].flatMap((column) => {
      const name = cells[column] ?? '';
      return unless(name === '' || isObjectName(name), column, 'the name of an object');
    }),
    ...((action === 'relocate' || action === 'install') && delivery === '' && bareMetalHost === ''
      ? [
          `line ${line}: expected a bareMetalHost, or delivery url or person: how is it to be delivered?`,
        ]
      : []),
    ...(byMedia && bareMetalHost === ''
      ? [`line ${line}: bareMetalHost: expected one for delivery virtualMedia, found none`]
      : []),
    ...(isKnown && bareMetalHost !== '' && !['', 'virtualMedia'].includes(delivery)
      ? [`line ${line}: bareMetalHost: expected none for delivery ${delivery}`]
      : []),
    ...(values.length <= SPEC_LIMITS.values
      ? []
      : [`line ${line}: expected at most ${SPEC_LIMITS.values} values, found ${values.length}`]),
    ...values.flatMap(([column, value]) => valueFaults(line, column, value)),
  ];
}

/** A Site can be read by whoever sees the fleet, and is printed. */
function valueFaults(line: number, column: string, value: string): string[] {
  const isSecret =
    redact(value) !== value || redact(`${column}: "${value}"`).includes('<redacted>');
  return [
    ...(value.length <= SPEC_LIMITS.value
      ? []
      : [
          `line ${line}: ${column}: expected at most ${SPEC_LIMITS.value} characters, found ${value.length}`,
        ]),
    ...(isSecret && value !== ''
      ? [
          `line ${line}: the column ${column} has something secret. Put it into a Secret, remove the column, and name it in --secret-values and the Secret in --secrets`,
        ]
      : []),
  ];
}

/** Of which a second row would be a second site of one node. `machine`: as in docs/examples/many-sites. */
const UNIQUE = {
  bareMetalHost: 'the BareMetalHost',
  hostFacts: 'the facts',
  machine: 'the machine',
};

function repeated(rows: readonly SiteRow[]): string[] {
  return Object.entries(UNIQUE).flatMap(([column, what]) => {
    const first = new Map<string, number>();
    return rows.flatMap(({ line, cells }) => {
      const value = (cells[column] ?? '').toLowerCase();
      const earlier = first.get(value);
      if (value === '') return [];
      if (earlier === undefined) first.set(value, line);
      return earlier === undefined
        ? []
        : [`line ${line}: ${column}: ${what} ${shown(value)} is that of line ${earlier}`];
    });
  });
}

const MOST_SHOWN = 60;
const shown = (text: string) => JSON.stringify(text.slice(0, MOST_SHOWN));
