import { stringify } from 'yaml';

/** A document as YAML. Quoted, so that no parser takes a hardware address or a mode for a number. */
export const nmstateText = (document: Record<string, unknown>): string =>
  stringify(document, {
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
