import { BACKUP_TO } from '../../change/backup/push/backup-to.ts';
import type { UsedVolume } from '../../change/site/used-volume.ts';
import type { Manifest } from '../../clients/kube/manifest-decoding.ts';
import type { ShippedHostFacts } from '../../config/site-config/host-facts.ts';
import type { SiteConfig } from '../../config/site-config/site-config.ts';
import { REPORT_TO } from '../../engine/report/report-to.ts';
import type { KeyPair } from '../../pki/authority.ts';

/** Names of files on a volume. */
export const VOLUME_FILES = {
  manifest: 'site-volume.json',
  /** Of the manifest, in the format of `ssh-keygen -Y sign`. */
  signature: 'site-volume.json.sig',
  /** All other files, as a tar archive, for one node. */
  encrypted: 'site-volume.age',
  /** Manifests in YAML or JSON, applied in the order of their names. */
  manifests: 'extra-manifests',
  /** Of the API server's certificate; both or none. The key only where the volume is encrypted. */
  servingCa: 'credentials/serving-ca.crt',
  servingCaKey: 'credentials/serving-ca.key',
  /** Of the administrator's certificate; its key stays on the laptop that made it. */
  adminCa: 'credentials/admin-ca.crt',
  /** A PKCS#10 request of the administrator, where no key is on the volume. */
  adminRequest: 'credentials/admin.csr',
  /** To whom the node reports; encrypted if it has a key or a token. */
  reportTo: REPORT_TO,
  /** A recipient of age, for what an encrypted volume is told in detail; the identity is with whom made the volume. */
  resultRecipient: 'result-recipient.txt',
  /** Where the node stores its backups; encrypted if it has a key or a token. */
  backupTo: BACKUP_TO,
} as const;

/** Labels of the medium, in any case. A FAT medium has at most 11 characters. */
export const VOLUME_LABELS = ['site-config', 'cluster-config', 'relocation-config'] as const;

/** Limits of a volume: what is beyond is not read. */
export const VOLUME_LIMITS = { files: 64, bytes: 16 << 20 } as const;

/** By what a node judges a volume. */
export interface VolumeRules {
  /** Lines of authorized_keys: who may sign. */
  readonly allowedSigners: readonly string[];
  /** Whether a volume without a signature is used. One with a wrong signature never is. */
  readonly unsignedAllowed: boolean;
  /** The text of the node's identity of age (lines AGE-SECRET-KEY-1…); undefined: nothing can be decrypted. */
  readonly ageIdentity: string | undefined;
  readonly used: readonly UsedVolume[];
  /** Undefined on a laptop that does not have them: then the node is not judged. */
  readonly facts: ShippedHostFacts | undefined;
  readonly now: Date;
}

/** Who is administrator at the site. */
export type SiteCredentials =
  /** Made on the laptop, with auth/kubeconfig. */
  | {
      readonly kind: 'authorities';
      readonly servingCa: KeyPair;
      readonly adminCa: Pick<KeyPair, 'certificate'>;
    }
  /** The host makes the authorities, and signs this request (PEM). */
  | { readonly kind: 'request'; readonly request: string };

/** A volume that may be used on this node. Everything below is verified. */
export interface VerifiedVolume {
  readonly config: SiteConfig;
  readonly credentials: SiteCredentials;
  /** Of extra-manifests, in the order of their files. */
  readonly manifests: readonly Manifest[];
  /** All files of the volume, decrypted, by their path: site-config.yaml, extra-manifests/NAME … */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** For the list of used volumes: write it before anything is changed. */
  readonly use: UsedVolume;
  /** It is in `used`: what it asks for is done, or is to be continued. */
  readonly isKnown: boolean;
  /** Fingerprint of the key that signed it; undefined: not signed. */
  readonly signedBy: string | undefined;
}
