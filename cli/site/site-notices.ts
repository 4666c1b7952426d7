import { X509Certificate } from 'node:crypto';
import { repeatedNameNotices } from '../../lib/config/site/names.ts';
import { networkNotices, networkSecrets } from '../../lib/config/site/nmstate/notices.ts';
import { bundleNotices } from '../../lib/config/site/trust-bundle.ts';
import type { SiteConfig } from '../../lib/config/site-config/site-config.ts';
import { certificatesIn } from '../../lib/pki/certificate.ts';
import type { Site } from './read-site.ts';

const DAY_MS = 86_400_000;
/** Nothing on the host renews a certificate that the site has brought. */
const NEARLY_EXPIRED_DAYS = 30;

/** What is valid, but may not be what was intended. */
export function siteNotices(
  { config, skipped, notRead }: Site,
  isEncrypted: boolean,
  now: Date,
): string[] {
  return [
    ...(config.hosts.length === 0 ? ['no hosts: every node that trusts the signer takes it'] : []),
    ...(config.validUntil === undefined ? ['no validUntil: the volume does not expire'] : []),
    ...(isEncrypted
      ? []
      : secretsOf(config).map((secret) => `${secret} is not encrypted on the medium`)),
    ...(config.siteChecks.length === 0
      ? ['no siteChecks: the network is kept once its gateway and a name server answer']
      : []),
    ...(config.expectedAdapters.length === 0
      ? []
      : [`the network expects these adapters on the host: ${config.expectedAdapters.join(', ')}`]),
    ...repeatedNameNotices(config.clusterName, config.baseDomain),
    ...networkNotices(config.networkConfig),
    ...bundleNotices(config.additionalTrustBundle, now),
    ...nearlyExpired(config, now),
    ...skipped.map((path) => `${path} is not a manifest, and is not on the volume`),
    ...notRead,
  ];
}

/** Private keys are not among them: a volume with one is refused unless it is encrypted. */
function secretsOf({ pullSecret, proxy, networkConfig }: SiteConfig): string[] {
  const proxies = (['httpProxy', 'httpsProxy'] as const).filter((field) => {
    const url = proxy?.[field];
    return url !== undefined && new URL(url).password !== '';
  });
  return [
    ...(pullSecret === undefined ? [] : ['the pull secret']),
    ...proxies.map((field) => `the password in proxy.${field}`),
    ...networkSecrets(networkConfig).map((field) => `the secret in ${field}`),
  ];
}

function nearlyExpired({ certificates }: SiteConfig, now: Date): string[] {
  return (['api', 'ingress'] as const).flatMap((which) => {
    const chain = certificatesIn(certificates[which]?.certificate ?? '');
    const ends = chain.map((pem) => new X509Certificate(pem).validToDate.getTime());
    const days = Math.floor((Math.min(...ends) - now.getTime()) / DAY_MS);
    if (days >= NEARLY_EXPIRED_DAYS) return [];
    const day = new Date(Math.min(...ends)).toISOString().slice(0, 10);
    return [
      `certificates.${which}.certificate, or that of an issuer, ends on ${day}, in ${days} days: nothing renews it`,
    ];
  });
}
