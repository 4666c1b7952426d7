/** Volumes for tests, made by the product. */
import { Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { createLaptopAuthorities } from '../../../../lab/certificates/signed-now.ts';
import type { ShippedHostFacts } from '../../../../lib/config/site-config/host-facts.ts';
import { createSigningKey } from '../../../../lib/pki/keys.ts';
import { certificateRequest } from '../../../../lib/pki/request.ts';
import { credentialFiles } from '../../../../lib/relocation/site-volume/credentials.ts';
import type {
  SiteCredentials,
  VolumeRules,
} from '../../../../lib/relocation/site-volume/volume.ts';
import {
  type NewVolume,
  volumeFiles,
} from '../../../../lib/relocation/site-volume/write-volume.ts';

export const NOW = new Date('2026-11-23T12:00:00Z');
export const signal = new AbortController().signal;

export const facts: ShippedHostFacts = {
  apiVersion: 'sno-agents/v1',
  kind: 'HostFacts',
  controlPlane: 'kubernetes',
  clusterName: 'factory',
  baseDomain: 'factory.example',
  nodeName: 'sno1',
  internalAddresses: ['10.99.0.5'],
  clusterNetwork: ['10.128.0.0/14'],
  serviceNetwork: ['172.30.0.0/16'],
  adapters: ['eno1', 'eno2'],
  identifiers: ['cz1234abcd', '52:54:00:12:34:56'],
};

export const SITE = `api_version: 1
cluster_name: shop
base_domain: example.com
`;

/** A request of an administrator, for volumes without keys. */
export async function requestCredentials(): Promise<SiteCredentials> {
  const subject = { commonName: 'site-administrator', organizations: ['system:masters'] };
  return { kind: 'request', request: await certificateRequest(subject, await createSigningKey()) };
}

export async function authorityCredentials(now = NOW): Promise<SiteCredentials> {
  const { servingCa, adminCa } = await createLaptopAuthorities(now);
  return { kind: 'authorities', servingCa, adminCa: { certificate: adminCa.certificate } };
}

/** A key pair of age. */
export async function ageKeys() {
  const identity = await generateIdentity();
  return { identity: `${identity}\n`, recipient: await identityToRecipient(identity) };
}

export function encrypterTo(recipient: string): Encrypter {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  return encrypter;
}

/** The files of a volume, with what differs from a plain one. */
export async function aVolume({
  config = SITE,
  more = {},
  credentials,
  ...rest
}: Partial<Omit<NewVolume, 'files'>> & {
  config?: string;
  more?: Readonly<Record<string, string | Uint8Array>>;
  credentials?: SiteCredentials;
} = {}): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>([
    ['site-config.yaml', Buffer.from(config)],
    ...Object.entries(more).map(([path, contents]): [string, Uint8Array] => [
      path,
      Buffer.from(contents),
    ]),
    ...credentialFiles(credentials ?? (await requestCredentials())),
  ]);
  const plain = { serial: 7, hosts: [], validUntil: undefined, createdAt: NOW };
  return new Map(
    await volumeFiles({ ...plain, encrypter: undefined, sign: undefined, ...rest, files }, signal),
  );
}

export const rules = (different: Partial<VolumeRules> = {}): VolumeRules => ({
  allowedSigners: [],
  unsignedAllowed: true,
  ageIdentity: undefined,
  used: [],
  facts,
  now: NOW,
  ...different,
});
