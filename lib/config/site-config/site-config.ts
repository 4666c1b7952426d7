import type { KeyPair } from '../../pki/authority.ts';
import type { ImageMirror } from '../cluster/cluster.ts';

/** The name of the file, on the administrator's disk and on a volume. */
export const SITE_CONFIG = 'site-config.yaml';

/** A check of the site's network, before it is kept. */
export type SiteCheck =
  | { readonly kind: 'ping'; readonly address: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  /** The name resolves. */
  | { readonly kind: 'dns'; readonly name: string }
  /** The server answers with a certificate that the host trusts, whatever its status. */
  | { readonly kind: 'https'; readonly url: string };

/**
 * What a site wants of its node: `site-config.yaml` without faults, with defaults filled in. A field that is
 * `undefined` leaves what the node has.
 */
export interface SiteConfig {
  /** Rises from one volume of a node to the next; undefined: `sno create site-volume` sets it. */
  readonly serial: number | undefined;
  /** Not used on a node after it. */
  readonly validUntil: Date | undefined;
  /** Serial numbers of machines or MAC addresses, in lower case; empty: any node. */
  readonly hosts: readonly string[];
  readonly clusterName: string;
  readonly baseDomain: string;
  /** Of the operating system. */
  readonly hostname: string | undefined;
  /** Whether the Node gets the name of the host too. */
  readonly renameNode: boolean;
  /** The address by which the cluster knows the node: that of its installation, or the site's. */
  readonly nodeAddress: 'internal' | 'site';
  /** CIDR. Which of the host's addresses is the site's: at least one with nodeAddress `site`. */
  readonly machineNetworks: readonly string[];
  /** An nmstate document (YAML), whose texts are quoted: the network, the name servers, or both. */
  readonly networkConfig: string | undefined;
  /** Network adapters that it expects on the host. */
  readonly expectedAdapters: readonly string[];
  /** Also in networkConfig. What the file does not say is empty. */
  readonly dns: { readonly servers: readonly string[]; readonly search: readonly string[] };
  readonly additionalNtpSources: readonly string[];
  /** `noProxy` as it is written: lib/config/site/proxy completes it. */
  readonly proxy:
    | {
        readonly httpProxy: string | undefined;
        readonly httpsProxy: string | undefined;
        readonly noProxy: string;
      }
    | undefined;
  /** PEM certificates. */
  readonly additionalTrustBundle: string | undefined;
  /** In place of all mirrors that the host has. */
  readonly imageMirrors: readonly ImageMirror[] | undefined;
  /** JSON. */
  readonly pullSecret: string | undefined;
  /** Who may log in as `core`, instead of those of the installation. */
  readonly sshKeys: readonly string[] | undefined;
  /** Whether the keys of the host's sshd stay; on OpenShift they always do. */
  readonly keepHostKeys: boolean;
  /** bcrypt. Only of OpenShift. */
  readonly kubeadminPasswordHash: string | undefined;
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly certificates: {
    /** Of `api.<cluster>.<domain>`. */
    readonly api: SiteCertificate;
    /** Of `*.apps.<cluster>.<domain>`. */
    readonly ingress: SiteCertificate;
  };
  /** Empty: the gateway and the name servers are asked. */
  readonly siteChecks: readonly SiteCheck[];
  /** Whether the node may take about ten minutes longer, for a restart. */
  readonly allowRestart: boolean;
}

/** A certificate chain (PEM, the leaf first) and its key, or undefined: the host makes it. */
export type SiteCertificate = KeyPair | undefined;

/** `<cluster>.<domain>`: the domain of api and *.apps at the site. */
export const siteDomain = ({
  clusterName,
  baseDomain,
}: Pick<SiteConfig, 'clusterName' | 'baseDomain'>): string => `${clusterName}.${baseDomain}`;
