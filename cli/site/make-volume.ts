import { join, resolve } from 'node:path';
import { type Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { encrypterFor } from '../../lib/change/backup/portable/recipients.ts';
import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { siteDomain } from '../../lib/config/site-config/site-config.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';
import { administrators, createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { certificateRequest } from '../../lib/pki/request.ts';
import { signText } from '../../lib/pki/signature/ssh-signature.ts';
import { credentialFiles, requireRequest } from '../../lib/relocation/site-volume/credentials.ts';
import { chainAnchor } from '../../lib/relocation/site-volume/shown-certificate.ts';
import { VOLUME_SIGNATURE } from '../../lib/relocation/site-volume/signature.ts';
import { type SiteCredentials, VOLUME_FILES } from '../../lib/relocation/site-volume/volume.ts';
import { volumeFiles } from '../../lib/relocation/site-volume/write-volume.ts';
import type { OutputFile } from '../create/outputs.ts';
import type { Site } from './read-site.ts';

/** Who may read a volume, and who has made it. */
export interface Protection {
  /** An SSH key. */
  readonly sign?: string;
  /** Of age. */
  readonly recipient?: string;
  /** A certificate request of the administrator, instead of a key that is made here. */
  readonly csr?: string;
}

/** A volume in memory, and what stays on the laptop. */
export interface MadeVolume {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Paths are relative to the folder of the site. */
  readonly outputs: readonly OutputFile[];
  readonly serial: number;
  readonly isEncrypted: boolean;
}

/** Who is administrator at a site, and what stays of that on the laptop. */
export interface MadeCredentials {
  readonly credentials: SiteCredentials;
  /** Who reads the details of a failure on an encrypted volume. Undefined: nobody does. */
  readonly resultRecipient?: string;
  readonly outputs: readonly OutputFile[];
}

/** What is known of a volume already. */
export interface GivenVolume {
  /** Default: new ones. */
  readonly made?: MadeCredentials;
  /** Default: that of the configuration, else the time. */
  readonly serial?: number;
}

/** A passphrase may have to be typed. */
const SIGN_MS = 300_000;

/** Files of the administrator, below the folder of the site. */
export const AUTH_FILES = {
  kubeconfig: join('auth', 'kubeconfig'),
  key: join('auth', 'admin.key'),
  request: join('auth', 'admin.csr'),
  /** An identity of age, which reads what the node writes onto an encrypted volume. */
  result: join('auth', 'result.agekey'),
} as const;

/** @throws Failure (usage) if a key or recipient cannot be used, or a private key would not be encrypted */
export async function makeVolume(
  site: Site,
  protection: Protection,
  { facts, now, signal }: { facts: ShippedHostFacts | undefined; now: Date; signal: AbortSignal },
  given: GivenVolume = {},
): Promise<MadeVolume> {
  const { sign } = protection;
  const encrypter = volumeEncrypter(protection, facts);
  const { credentials, resultRecipient, outputs } =
    given.made ?? (await createCredentials(site, encrypter, protection.csr, signal));
  const { config } = site;
  const serial = given.serial ?? config.serial ?? Math.floor(now.getTime() / 1000);
  const limits = { signal, deadlineMs: SIGN_MS };
  const files = await volumeFiles(
    {
      files: new Map([
        ...site.files,
        ...credentialFiles(credentials),
        ...resultFiles(resultRecipient),
      ]),
      serial,
      hosts: config.hosts,
      validUntil: config.validUntil,
      createdAt: now,
      encrypter,
      sign:
        sign === undefined
          ? undefined
          : (text) => signText(text, resolve(sign), VOLUME_SIGNATURE, limits),
    },
    signal,
  );
  return { files, outputs, serial, isEncrypted: encrypter !== undefined };
}

const resultFiles = (recipient: string | undefined): [string, Uint8Array][] =>
  recipient === undefined ? [] : [[VOLUME_FILES.resultRecipient, Buffer.from(`${recipient}\n`)]];

/** Undefined: the volume is readable by everybody who has it. @throws Failure (usage) for a recipient that is none */
export function volumeEncrypter(
  { recipient }: Pick<Protection, 'recipient'>,
  facts: ShippedHostFacts | undefined,
): Encrypter | undefined {
  const to = recipient ?? facts?.recipient;
  return to === undefined ? undefined : encrypterFor([to]);
}

/**
 * Encrypted: the site's authorities and a kubeconfig, as for an installation. Otherwise a request: the host makes the
 * authorities, and the administrator's key does not leave the laptop.
 */
export async function createCredentials(
  { config }: Pick<Site, 'config'>,
  encrypter: Encrypter | undefined,
  csr?: string,
  signal?: AbortSignal,
): Promise<MadeCredentials> {
  if (csr !== undefined) {
    const request = await readGivenFile(csr, '--csr', { signal });
    requireRequest(request, `--csr ${csr}`);
    return { credentials: { kind: 'request', request }, outputs: [] };
  }
  if (encrypter !== undefined) {
    const made = await createLaptopCredentials(siteDomain(config), config.clusterName, {
      alsoTrusted: chainAnchor(config.certificates.api?.certificate ?? ''),
    });
    const { servingCa, adminCa } = made.authorities;
    const identity = await generateX25519Identity();
    return {
      credentials: { kind: 'authorities', servingCa, adminCa },
      resultRecipient: await identityToRecipient(identity),
      outputs: [
        { path: AUTH_FILES.kubeconfig, contents: made.kubeconfig },
        { path: AUTH_FILES.result, contents: `${identity}\n` },
      ],
    };
  }
  const key = await createSigningKey();
  // The host gives it all rights; it certifies no name of Kubernetes' own (system:).
  const subject = { commonName: 'site-administrator', organizations: [administrators] };
  const request = await certificateRequest(subject, key);
  return {
    credentials: { kind: 'request', request },
    outputs: [
      { path: AUTH_FILES.key, contents: key.privateKey },
      { path: AUTH_FILES.request, contents: request },
    ],
  };
}
