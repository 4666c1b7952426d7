import { z } from 'zod';
import { schemaFaults } from '../../lib/base/errors/schema-faults.ts';
import { readGoDocuments } from '../../lib/base/go-yaml/read.ts';
import { isRecord } from '../../lib/base/json.ts';
import { FLEET } from '../../lib/engine/report/site-status.ts';
import type { SiteRow } from '../site/table.ts';

/** What becomes a cell: the column, and where it is in a ClusterInstance of siteconfig (siteconfig.open-cluster-management.io). */
const MAPPED: Readonly<Record<string, string>> = {
  site: 'metadata.name',
  wave: 'metadata.labels.wave',
  // siteconfig gives the BareMetalHost this name.
  bareMetalHost: 'spec.nodes.0.hostName',
  hostName: 'spec.nodes.0.hostName',
  clusterName: 'spec.clusterName',
  baseDomain: 'spec.baseDomain',
  machineNetwork: 'spec.machineNetwork.0.cidr',
  machine: 'spec.nodes.0.bootMACAddress',
  bmcAddress: 'spec.nodes.0.bmcAddress',
  sshPublicKey: 'spec.sshPublicKey',
  hostFacts: `metadata.annotations.${FLEET.group}/host-facts`,
};

/** Of the object itself, not of the site. */
const PASSED_OVER = /^(apiVersion|kind|status\b.*|metadata\..*)$/;
const MOST = 10_000;

const instanceSchema = z.looseObject({
  kind: z.literal('ClusterInstance'),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    nodes: z
      .array(z.looseObject({}))
      .length(1, { error: 'expected one node: more are no single node' }),
  }),
});

/** ClusterInstances as rows of a table; or each of their faults, in a line. */
export function readClusterInstances(text: string): {
  readonly rows: readonly SiteRow[];
  /** Where they are, and with them their BareMetalHosts. */
  readonly namespaces: ReadonlySet<string>;
  /** Fields that become no cell, and in how many instances they are. */
  readonly unmapped: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
} {
  const rows: SiteRow[] = [];
  const faults: string[] = [];
  const unmapped = new Map<string, number>();
  const names = new Set<string>();
  const namespaces = new Set<string>();
  for (const { line, value } of instancesIn(text, faults)) {
    const parsed = instanceSchema.safeParse(value);
    if (!parsed.success) {
      faults.push(`line ${line}: ${schemaFaults(parsed.error)}`);
      continue;
    }
    const { name } = parsed.data.metadata;
    if (names.has(name)) faults.push(`line ${line}: the ClusterInstance ${name} is there twice`);
    names.add(name);
    const fields = new Map(fieldsOf(value));
    const namespace = fields.get('metadata.namespace');
    if (namespace !== undefined) namespaces.add(namespace);
    const cells = Object.entries(MAPPED).map(([column, at]) => [column, fields.get(at) ?? '']);
    rows.push({ line, cells: Object.fromEntries(cells) });
    for (const at of new Set([...fields.keys()].filter(isUnmapped).map(shortened))) {
      unmapped.set(at, (unmapped.get(at) ?? 0) + 1);
    }
  }
  if (rows.length + faults.length === 0) faults.push('expected ClusterInstances, found none');
  if (rows.length > MOST) faults.push(`expected at most ${MOST} ClusterInstances`);
  return { rows, namespaces, unmapped, faults };
}

interface Located {
  readonly line: number;
  readonly value: unknown;
}

/** The documents, and what is in lists. Other kinds are passed over: they lie beside it in a folder of siteconfig. */
function* instancesIn(text: string, faults: string[]): Generator<Located> {
  for (const document of readGoDocuments(text)) {
    if ('fault' in document) {
      faults.push(`line ${document.line}: ${document.fault}`);
      continue;
    }
    const { line, value } = document;
    const items = isRecord(value) && Array.isArray(value.items) ? value.items : [value];
    for (const item of items) {
      if (isRecord(item) && item.kind === 'ClusterInstance') yield { line, value: item };
    }
  }
}

/** Every text, number and truth value with its path. */
function* fieldsOf(value: unknown, path: readonly string[] = []): Generator<[string, string]> {
  if (Array.isArray(value) || isRecord(value)) {
    for (const [name, each] of Object.entries(value)) yield* fieldsOf(each, [...path, name]);
  } else if (value !== null && value !== undefined) yield [path.join('.'), `${value}`];
}

const mapped = new Set(Object.values(MAPPED));
const isUnmapped = (at: string) => !mapped.has(at) && !PASSED_OVER.test(at);

/** `spec.nodes.nodeNetwork` says enough of what is below it. */
const shortened = (at: string) =>
  at
    .split('.')
    .filter((part) => !/^\d+$/.test(part))
    .slice(0, 3)
    .join('.');
