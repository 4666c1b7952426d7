import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { isMissing } from '../../../lib/host/files.ts';
import {
  certificatesIn as blocksIn,
  inspectCertificate,
  parseCertificate,
} from '../../../lib/pki/certificate.ts';
import { type GatherHost, own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { endOfLinks, openRegular } from './file.ts';
import { made, madeJson } from './made.ts';
import { below } from './walk.ts';

/** An entry of certificates.json. */
export interface CertificateEntry {
  /** Path on the host. */
  readonly file: string;
  /** Position in the file, from 0. */
  readonly index: number;
  readonly subject: string;
  readonly issuer: string;
  /** DNS names and IP addresses it is valid for. */
  readonly names: readonly string[];
  /** ISO times. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** Lower-case hex. */
  readonly serial: string;
  readonly isAuthority: boolean;
  /** Of the DER encoding, lower-case hex. */
  readonly sha256: string;
}

const FOLDERS = [
  '/etc/kubernetes',
  '/var/lib/kubelet/pki',
  '/opt/openshift/tls',
  '/opt/openshift/auth',
  '/etc/sno-agents',
  '/etc/mcs',
  '/etc/ssl/mcs',
  '/etc/pki/ca-trust/source/anchors',
  '/root/.kube',
];
const FILES = ['/var/lib/kubelet/kubeconfig', '/opt/openshift/kubeconfig'];

const MAX_FILE_BYTES = 1 << 20;
const MAX_ENTRIES = 1000;
const DAY_MS = 86_400_000;

/** Every certificate that the installation put on the host, as JSON and as a table; never a key. */
export const certificates: SourceGroup = {
  name: 'certificates',
  deadlineMs: 5000,
  async list(host) {
    const at = (name: string) => own(host, `certificates/${name}`);
    // Read once for both forms.
    let found: Promise<HostCertificates> | undefined;
    const read = (signal: AbortSignal) => {
      found ??= hostCertificates(host, signal);
      return found;
    };
    return [
      madeJson(at('certificates.json'), async (_, signal) => (await read(signal)).entries),
      made(at('certificates.txt'), async (_, signal) =>
        certificateTable(await read(signal), Date.now()),
      ),
    ];
  },
};

export interface HostCertificates {
  readonly entries: readonly CertificateEntry[];
  /** Unreadable files, each with its reason. */
  readonly faults: readonly string[];
}

/** The certificates of all folders and kubeconfigs. */
export async function hostCertificates(
  { paths }: Pick<GatherHost, 'paths'>,
  signal: AbortSignal,
): Promise<HostCertificates> {
  const entries: CertificateEntry[] = [];
  const faults: string[] = [];
  for (const path of await candidates(paths.at)) {
    signal.throwIfAborted();
    if (entries.length >= MAX_ENTRIES) {
      faults.push(`more than ${MAX_ENTRIES} certificates: the rest was not read`);
      break;
    }
    try {
      const found = certificatesIn(path, await textOf(paths.at(path)));
      entries.push(...found.entries);
      faults.push(...found.faults);
    } catch (error) {
      if (!isMissing(error)) faults.push(`${path}: ${describeError(error)}`);
    }
  }
  return { entries, faults };
}

async function candidates(at: (path: string) => string): Promise<string[]> {
  const inFolders = await Promise.all(
    FOLDERS.map(async (folder) => {
      const names = (await below(at(folder))).map(({ name }) => name);
      return names.filter((name) => !isSuperseded(name, names)).map((name) => join(folder, name));
    }),
  );
  return [...inFolders.flat(), ...FILES];
}

/** The kubelet keeps a file for each certificate it has ever had, and a link to the current one. */
function isSuperseded(name: string, names: readonly string[]): boolean {
  const [, pair] = /^(.*-)\d{4}-\d\d-\d\d-[\d-]+\.pem$/.exec(name) ?? [];
  return pair !== undefined && names.includes(`${pair}current.pem`);
}

/** A link is accepted if its target is in the same folder, as with the kubelet's current certificate. */
async function textOf(place: string): Promise<string> {
  const isLink = (await lstat(place)).isSymbolicLink();
  await using handle = await openRegular(
    isLink ? await endOfLinks(place, [dirname(place)]) : place,
  );
  const { size } = await handle.stat();
  return size > MAX_FILE_BYTES ? '' : await handle.readFile('utf8');
}

/** The certificates of a PEM text or a kubeconfig, in order; keys are ignored. */
export function certificatesIn(file: string, text: string): HostCertificates {
  const embedded = [
    ...text.matchAll(/(?:certificate-authority|client-certificate)-data"?:\s*"?([\w+/=]+)/g),
  ].map(([, data = '']) => Buffer.from(data, 'base64').toString('latin1'));
  const blocks = [text, ...embedded].flatMap(blocksIn);
  const entries: CertificateEntry[] = [];
  const faults: string[] = [];
  for (const [index, block] of blocks.entries()) {
    try {
      entries.push({ file, index, ...facts(block) });
    } catch (error) {
      faults.push(`${file}, number ${index + 1}: ${describeError(error)}`);
    }
  }
  return { entries, faults };
}

function facts(pem: string): Omit<CertificateEntry, 'file' | 'index'> {
  const certificate = parseCertificate(pem);
  const { dnsNames, ipAddresses, notBefore, notAfter, serialNumber, isAuthority } =
    inspectCertificate(pem);
  return {
    subject: certificate.subject,
    issuer: certificate.issuer,
    names: [...dnsNames, ...ipAddresses],
    notBefore: notBefore.toISOString(),
    notAfter: notAfter.toISOString(),
    serial: serialNumber,
    isAuthority,
    sha256: createHash('sha256').update(new Uint8Array(certificate.rawData)).digest('hex'),
  };
}

/** For people; sorted by expiry, earliest first. */
export function certificateTable({ entries, faults }: HostCertificates, nowMs: number): string {
  const rows = entries
    .toSorted((a, b) => (a.notAfter < b.notAfter ? -1 : 1))
    .map(({ file, index, subject, issuer, names, notBefore, notAfter, isAuthority }) => {
      const what = isAuthority ? 'authority' : 'leaf';
      const from = issuer === subject ? 'itself' : issuer;
      return [
        `${validity(notBefore, notAfter, nowMs)}  ${file}${index === 0 ? '' : ` (number ${index + 1})`}`,
        `    ${what} ${subject}, issued by ${from}`,
        `    from ${notBefore} until ${notAfter}`,
        ...(names.length === 0 ? [] : [`    for ${names.join(', ')}`]),
      ].join('\n');
    });
  const unread = faults.map((fault) => `CANNOT BE READ  ${fault}`);
  return [...rows, ...unread].map((row) => `${row}\n`).join('');
}

function validity(notBefore: string, notAfter: string, nowMs: number): string {
  const left = Date.parse(notAfter) - nowMs;
  if (left < 0) return `EXPIRED ${Math.ceil(-left / DAY_MS)} days ago`;
  if (Date.parse(notBefore) > nowMs) return 'NOT YET VALID';
  return `${Math.floor(left / DAY_MS)} days left`;
}
