import { sshKeys } from '../../pki/signature/ssh-keys.ts';
import { mergeMirrors } from '../site/mirrors.ts';
import { withoutFinalDot } from '../site/names.ts';
import { expectedOnHost } from '../site/nmstate/interfaces.ts';
import { nmstateText } from '../site/nmstate/text.ts';
import { certificatesOf } from '../site/trust-bundle.ts';
import { type Files, isPem, pairOf } from './certificates.ts';
import { endpointOf, timeOf } from './fields.ts';
import { withNameServers } from './name-servers.ts';
import { nmstateOf } from './nmstate.ts';
import type { RawSiteConfig, SomeSiteFields } from './schema.ts';
import type { SiteCheck, SiteConfig } from './site-config.ts';

/** The only translation of site-config.yaml without faults. */
export function siteConfigOf(raw: RawSiteConfig, files: Files): SiteConfig {
  const network = withNameServers(nmstateOf(raw), raw.dns ?? {});
  const { proxy, additionalTrustBundle: trust } = raw;
  return {
    serial: raw.serial,
    validUntil: raw.validUntil === undefined ? undefined : timeOf(raw.validUntil),
    hosts: (raw.hosts ?? []).map((host) => host.toLowerCase()),
    clusterName: raw.cluster_name,
    baseDomain: withoutFinalDot(raw.base_domain),
    hostname: raw.hostname,
    renameNode: raw.renameNode ?? false,
    nodeAddress: raw.nodeAddress ?? 'internal',
    machineNetworks: raw.machine_networks ?? [],
    networkConfig: network && nmstateText(network),
    expectedAdapters: network === undefined ? [] : expectedOnHost(network),
    dns: { servers: raw.dns?.servers ?? [], search: raw.dns?.search ?? [] },
    additionalNtpSources: raw.additionalNTPSources ?? [],
    proxy: proxy && {
      httpProxy: proxy.httpProxy || undefined,
      httpsProxy: proxy.httpsProxy || undefined,
      noProxy: proxy.noProxy ?? '',
    },
    additionalTrustBundle: certificatesOf(trust?.userCaBundle ?? '').join('') || undefined,
    imageMirrors: mirrorsOf(raw),
    pullSecret: raw.pull_secret,
    sshKeys: raw.ssh_key === undefined ? undefined : sshKeys(raw.ssh_key),
    keepHostKeys: raw.keepHostKeys ?? false,
    kubeadminPasswordHash: raw.kubeadmin_password_hash,
    nodeLabels: raw.node_labels ?? {},
    certificates: {
      api: pairOf(raw.certificates?.api, files),
      ingress: pairOf(raw.certificates?.ingress, files),
    },
    siteChecks: (raw.siteChecks ?? []).flatMap(checkOf),
    allowRestart: raw.allowRestart ?? false,
  };
}

/** Undefined if no field says anything of mirrors: then the host's stay. */
function mirrorsOf(raw: RawSiteConfig): SiteConfig['imageMirrors'] {
  const { imageContentSources: content, imageDigestSources: digest, imageTagSources: tag } = raw;
  if (content === undefined && digest === undefined && tag === undefined) return undefined;
  const asMirror =
    (digestOnly: boolean) =>
    ({ sourcePolicy, ...each }: NonNullable<typeof digest>[number]) => ({
      ...each,
      digestOnly,
      neverContactSource: sourcePolicy === 'NeverContactSource',
    });
  return mergeMirrors([
    ...(content ?? []).map((each) => ({ ...each, digestOnly: true, neverContactSource: false })),
    ...(digest ?? []).map(asMirror(true)),
    ...(tag ?? []).map(asMirror(false)),
  ]);
}

function checkOf(check: NonNullable<RawSiteConfig['siteChecks']>[number]): SiteCheck[] {
  const { ping, tcp, dns, https } = check;
  const endpoint = tcp === undefined ? undefined : endpointOf(tcp);
  return [
    ...(ping === undefined ? [] : [{ kind: 'ping', address: ping } as const]),
    ...(endpoint === undefined ? [] : [{ kind: 'tcp', ...endpoint } as const]),
    ...(dns === undefined ? [] : [{ kind: 'dns', name: dns } as const]),
    ...(https === undefined ? [] : [{ kind: 'https', url: https } as const]),
  ];
}

/** The paths of the files that a configuration names, relative to it; those of a sound field only. */
export function namedFiles({ certificates }: SomeSiteFields): string[] {
  const pairs = [certificates?.api, certificates?.ingress];
  return pairs
    .flatMap((pair) => (pair === undefined ? [] : [pair.certificate, pair.key]))
    .filter((text) => !isPem(text));
}
