import { Failure } from '../../base/errors/failure.ts';
import { isRecord } from '../../base/json.ts';
import { readDocument } from '../file/document.ts';
import { type Fault, faultText, firstOf, inOrder, onePerPlace } from '../file/fault.ts';
import { misfitFault } from '../file/misfit-fault.ts';
import { otherKind } from '../file/other-kind.ts';
import { placeholderFaults } from '../file/placeholder.ts';
import { schemaFaults, valueAt } from '../file/schema-faults.ts';
import { soundFields } from '../file/sound-fields.ts';
import { isPath } from './certificates.ts';
import type { ShippedHostFacts } from './host-facts.ts';
import { judgeSiteConfig } from './judge.ts';
import { refineSiteConfig, type SiteContext } from './refine.ts';
import { refusedField } from './refused.ts';
import { siteConfigSchema, someSiteFieldsSchema } from './schema.ts';
import { SITE_CONFIG, type SiteConfig } from './site-config.ts';
import { namedFiles, siteConfigOf } from './translate.ts';

const SITE_CONFIG_KIND = { schema: siteConfigSchema, refused: refusedField };
/** Sections whose fields are all optional. */
const SECTIONS = ['dns', 'certificates', 'additionalTrustBundle'];

export type ReadSiteConfig =
  | { readonly ok: true; readonly config: SiteConfig }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/**
 * Reads site-config.yaml and finds all faults at once: in the YAML, in each field, between fields, and with `facts` what
 * that node cannot be or do.
 */
export function readSiteConfig(
  text: string,
  context: SiteContext,
  facts?: ShippedHostFacts,
): ReadSiteConfig {
  const document = readDocument(text);
  if (document.value === undefined && document.faults.length > 0) {
    return { ok: false, faults: inOrder(document.faults) };
  }
  const value = document.value ?? {};
  const other = otherKind(value, {
    file: SITE_CONFIG,
    fields: Object.keys(siteConfigSchema.shape),
  });
  if (other !== undefined) return { ok: false, faults: [other] };
  const parsed = siteConfigSchema.safeParse(value);
  const issues = parsed.success ? [] : parsed.error.issues;
  const sound = parsed.success
    ? parsed.data
    : (someSiteFieldsSchema.safeParse(soundFields(value, issues, SECTIONS)).data ?? {});
  const isGiven = (name: string) => (valueAt(value, [name]) ?? undefined) !== undefined;
  const refinements = [
    // What the node's own networks forbid says more than what is wrong in itself.
    ...(facts === undefined ? [] : judgeSiteConfig(sound, facts)),
    ...refineSiteConfig(sound, context, isGiven),
  ].map((misfit) => misfitFault(misfit, document));
  const faults = [
    ...document.faults,
    ...placeholderFaults(document),
    ...schemaFaults(issues, document, SITE_CONFIG_KIND),
    ...refinements,
  ];
  if (!parsed.success || faults.length > 0) {
    return { ok: false, faults: inOrder(onePerPlace(faults)) };
  }
  return { ok: true, config: siteConfigOf(parsed.data, context.files) };
}

/**
 * The same. `file` is what the faults call the text.
 *
 * @throws Failure (usage, `site-config-refused`) with every fault, one in a line
 */
export function parseSiteConfig(
  text: string,
  file: string,
  context: SiteContext,
  facts?: ShippedHostFacts,
): SiteConfig {
  const read = readSiteConfig(text, context, facts);
  if (read.ok) return read.config;
  throw refusal(read.faults, file);
}

/** One error for all faults of a configuration, which `file` is called. */
export function refusal(faults: readonly Fault[], file: string): Failure {
  const count = faults.length;
  const lines = firstOf(faults.map((fault) => faultText(fault, file)));
  const head = `${count} ${count === 1 ? 'error' : 'errors'} in ${file}; nothing was changed`;
  return new Failure('usage', [head, ...lines].join('\n'), { code: 'site-config-refused' });
}

/** The files beside it that a configuration names, whatever else is wrong with it. */
export function filesNamedIn(text: string): string[] {
  const { value } = readDocument(text);
  const certificates = isRecord(value) ? value.certificates : undefined;
  const { data } = someSiteFieldsSchema.safeParse({ certificates });
  return data === undefined ? [] : [...new Set(namedFiles(data).filter(isPath))];
}
