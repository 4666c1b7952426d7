import { z } from 'zod';
import { describeError } from '../base/errors/failure.ts';
import { tableLines } from '../base/table.ts';
import { type CertificateFacts, certificatesIn, inspectCertificate } from './certificate.ts';
import { needsRenewal, renewalDate, renewalGains } from './leaf.ts';

/** What a file contains. `trust`: certificates of authorities that its user trusts. */
const KINDS = [
  'leaf',
  'leaf-with-key',
  'authority',
  'trust',
  'private-key',
  'public-key',
  'symmetric-key',
] as const;

/**
 * Who replaces a certificate before it expires:
 * - `sno-renew`: the agent, daily; after a long time off, sno-certificates before the kubelet;
 * - `kubelet`: the kubelet requests a new one; sno-renew approves the one for serving;
 * - `nobody`: keys, and authorities; both are replaced on request only (`sno-certificates rotate-ca`,
 *   `rotate-keys`).
 */
const RENEWERS = ['sno-renew', 'kubelet', 'nobody'] as const;

/** What it takes for the program that uses a file to read a new one. `itself`: nothing. */
const TAKE_UPS = ['itself', 'pod-restart', 'kubelet-restart'] as const;

export type TakeUp = (typeof TAKE_UPS)[number];

/**
 * `due`: in the last third of its lifetime. `limited`: the same, but its authority expires with
 * it, so that a renewal gains nothing. `unreadable`: the file has no readable certificate.
 */
const STATES = ['valid', 'due', 'limited', 'not-yet-valid', 'expired', 'unreadable'] as const;

const itemSchema = z.object({
  name: z.string().meta({ description: 'name of the certificate or key' }),
  path: z.string().meta({ description: 'path on the host' }),
  kind: z.enum(KINDS),
  signer: z.string().optional().meta({ description: 'authority that signs it' }),
  usedBy: z.array(z.string()).meta({ description: 'programs that read the file' }),
  renewedBy: z.enum(RENEWERS),
  takeUp: z.enum(TAKE_UPS).meta({ description: 'what it takes for its users to read a new one' }),
  state: z.enum(STATES).optional().meta({ description: 'absent for keys' }),
  subject: z.string().optional(),
  serial: z.string().optional().meta({ description: 'lower-case hex' }),
  notBefore: z.iso.datetime().optional(),
  notAfter: z.iso
    .datetime()
    .optional()
    .meta({ description: 'of several certificates: the one that expires first' }),
  renewalDue: z.iso.datetime().optional().meta({ description: 'when sno-renew renews it' }),
  error: z.string().optional().meta({ description: 'why it is unreadable' }),
});

/** What `sno-certificates list --json` prints. */
export const inventorySchema = z.object({
  schemaVersion: z.literal(1),
  hostname: z.string(),
  at: z.iso.datetime(),
  items: z.array(itemSchema),
});

export type InventoryItem = z.infer<typeof itemSchema>;
export type Inventory = z.infer<typeof inventorySchema>;

/** A file of the host that holds certificates or a key, as the renderer knows it. */
export type InventoryEntry = Pick<
  InventoryItem,
  'name' | 'path' | 'kind' | 'signer' | 'renewedBy' | 'takeUp'
> & { readonly usedBy: readonly string[] };

/**
 * The entry with what its file says.
 *
 * @param authority PEM of the authority that signs it, if it is known.
 */
export function inventoryItem(
  { usedBy, ...entry }: InventoryEntry,
  text: string,
  now: Date,
  authority?: string,
): InventoryItem {
  const item = { ...entry, usedBy: [...usedBy] };
  if (entry.kind.endsWith('-key') && entry.kind !== 'leaf-with-key') return item;
  try {
    // With a leaf there may be the certificate of its authority by the previous one.
    const [leaf = text] = certificatesIn(text);
    const texts = entry.kind.startsWith('leaf') ? [leaf] : certificatesIn(text);
    const all = (texts.length === 0 ? [text] : texts).map((pem) => ({
      pem,
      facts: inspectCertificate(pem),
    }));
    const [first] = all.toSorted((a, b) => a.facts.notAfter.getTime() - b.facts.notAfter.getTime());
    return first === undefined ? item : { ...item, ...described(first, item, now, authority) };
  } catch (error) {
    return { ...item, state: 'unreadable', error: describeError(error) };
  }
}

interface ReadCertificate {
  readonly pem: string;
  readonly facts: CertificateFacts;
}

function described(
  { pem, facts }: ReadCertificate,
  { renewedBy }: InventoryItem,
  now: Date,
  authority: string | undefined,
): Partial<InventoryItem> {
  const { subject, serialNumber, notBefore, notAfter } = facts;
  const isRenewed = renewedBy === 'sno-renew';
  const isLimited = authority !== undefined && !renewalGains(pem, authority);
  const due = isLimited ? 'limited' : 'due';
  return {
    state: whenInvalid(facts, now) ?? (isRenewed && needsRenewal(pem, now) ? due : 'valid'),
    subject: subject.commonName,
    serial: serialNumber,
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
    ...(isRenewed ? { renewalDue: renewalDate(pem).toISOString() } : {}),
  };
}

function whenInvalid({ notBefore, notAfter }: CertificateFacts, now: Date) {
  if (now > notAfter) return 'expired';
  return now < notBefore ? 'not-yet-valid' : undefined;
}

const DAY_MS = 86_400_000;
const TITLES = ['NAME', 'KIND', 'STATE', 'EXPIRES', 'SIGNER', 'RENEWED BY', 'TAKEN UP BY', 'PATH'];

/** For people: what expires first is first, keys are last. */
export function inventoryTable({ items, at }: Inventory): string {
  const rows = items
    .toSorted((a, b) => expiryMs(a) - expiryMs(b))
    .map((item) => [
      item.name,
      item.kind,
      item.state ?? '-',
      item.notAfter === undefined
        ? '-'
        : `${item.notAfter.slice(0, 10)} (${daysLeft(item.notAfter, at)})`,
      item.signer ?? '-',
      item.renewedBy,
      takenUpBy(item),
      item.path,
    ]);
  return `${tableLines([TITLES, ...rows]).join('\n')}\n`;
}

/** Keys do not expire. A finite number: the difference of two infinities is none. */
const expiryMs = ({ notAfter }: InventoryItem): number =>
  notAfter === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(notAfter);

const daysLeft = (notAfter: string, at: string): string =>
  `${Math.floor((Date.parse(notAfter) - Date.parse(at)) / DAY_MS)} d`;

function takenUpBy({ takeUp, usedBy }: InventoryItem): string {
  const users = usedBy.join(', ');
  if (takeUp === 'itself') return users;
  return takeUp === 'kubelet-restart' ? 'restart of the kubelet' : `restart of the pod: ${users}`;
}
