import { parseDocument } from 'yaml';
import { z } from 'zod';
import { schemaWords } from '../../base/errors/schema-words.ts';
import { canonicalAddress, isAddress } from '../../base/network/address.ts';
import { contains, parseNetwork } from '../../base/network/network.ts';
import { endOf } from '../../config/site/addresses/addresses.ts';
import { isUsableHostname } from '../../config/site/names.ts';
import { isNameOfOwnHost, type OwnHost } from './own-host.ts';

/** A worker that may join the cluster, as a file of the list describes it. */
export interface AllowedWorker {
  /** The name of its Node. */
  readonly name: string;
  /** In canonical form: the addresses that its serving certificate may have. */
  readonly addresses: readonly string[];
  /** From then on, the entry allows nothing. */
  readonly expires: Date;
  /** If set, only this key gets its first certificate: SHA-256 of the SubjectPublicKeyInfo, hex. */
  readonly keySha256?: string;
  /** If set, only the Node with this UID gets a serving certificate. */
  readonly nodeUid?: string;
}

/**
 * A worker whose present serving certificate was approved on this host. It gets the next one without an entry of
 * the list: of the same Node, for the same addresses, while the present one can still be valid.
 */
export interface AllowedMember extends AllowedWorker {
  /** Of the Node that it was approved for: a Node that was deleted and registered again is another one. */
  readonly nodeUid: string;
}

/** What the entries of this cluster must fit. */
export interface WorkersOf extends OwnHost {
  readonly machineNetwork: readonly string[];
  readonly now: Date;
}

/** An entry is for a join, not for ever. */
export const LONGEST_DAYS = 14;
const DAY_MS = 86_400_000;
const MOST_ADDRESSES = 8;

const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;

const entrySchema = ({ machineNetwork, now, ...own }: WorkersOf) => {
  const networks = machineNetwork.map(parseNetwork).filter((network) => network !== undefined);
  const latest = new Date(now.getTime() + LONGEST_DAYS * DAY_MS);
  return z.strictObject({
    name: z
      .string()
      .refine(isUsableHostname, 'expected a host name in lower case, of at most 63 characters')
      .refine((name) => name !== own.ownName, 'it is the node of the control plane')
      .refine(
        (name) => name === own.ownName || !isNameOfOwnHost(name, own),
        'it is a name of the control plane',
      ),
    addresses: z
      .array(
        z
          .string()
          .refine(isAddress, 'expected an IPv4 or IPv6 address')
          .refine(
            (address) =>
              !isAddress(address) || networks.some((network) => contains(network, address)),
            `expected an address in ${machineNetwork.join(', ')}`,
          )
          .transform(canonicalAddress)
          .refine(
            (address) => networks.every((network) => endOf(network, address) === undefined),
            'expected an address of a host, not one of the network itself',
          )
          .refine(
            (address) => !own.ownAddresses.includes(address),
            'it is an address of the control plane',
          ),
      )
      .min(1, 'expected at least one address')
      .max(MOST_ADDRESSES, `expected at most ${MOST_ADDRESSES} addresses`)
      .refine((all) => new Set(all).size === all.length, 'an address is repeated'),
    expires: z.iso
      .datetime({
        offset: true,
        error: 'expected a time with its zone, such as 2030-01-31T12:00:00Z',
      })
      .transform((text) => new Date(text))
      .refine(
        (time) => !(time > latest),
        `expected a time within ${LONGEST_DAYS} days, until ${latest.toISOString()}`,
      ),
    keyFingerprint: z
      .string()
      .regex(FINGERPRINT, 'expected sha256: and 64 hexadecimal digits, as the console shows them')
      .optional(),
  });
};

export type EntryResult =
  | { readonly worker: AllowedWorker }
  /** Every fault, each with its field, without the text of the file. */
  | { readonly faults: readonly string[] };

/** Reads the text of one file: exactly one YAML mapping, without aliases, tags or unknown fields. */
export function readEntry(text: string, cluster: WorkersOf): EntryResult {
  const document = parseDocument(text, {
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    strict: true,
    uniqueKeys: true,
  });
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    // What follows a semicolon is for programmers.
    const reasons = broken.map(({ message }) => message.replace(/;.*$/s, ''));
    return { faults: reasons.map((reason) => `it is not one YAML document: ${reason}`) };
  }
  const value = withoutAliases(document);
  const parsed = entrySchema(cluster).safeParse(value);
  if (!parsed.success) return { faults: parsed.error.issues.map(fault) };
  const { keyFingerprint, ...entry } = parsed.data;
  return {
    worker: {
      ...entry,
      ...(keyFingerprint === undefined
        ? {}
        : { keySha256: keyFingerprint.slice('sha256:'.length) }),
    },
  };
}

/** Undefined if the document has an alias: it could grow without limit. */
function withoutAliases(document: { toJS(options: { maxAliasCount: number }): unknown }): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

const fault = (issue: z.core.$ZodIssue): string =>
  issue.path.length === 0
    ? schemaWords(issue)
    : `${issue.path.map(String).join('.')}: ${schemaWords(issue)}`;
