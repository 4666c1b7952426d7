import { type SiteConfig, siteDomain } from '../../config/site-config/site-config.ts';
import type { KeyPair } from '../../pki/authority.ts';
import { type Domains, siteApiServer, siteIngress, siteIngressController } from './domain.ts';
import { sshKeys, timeServers } from './machine-configs.ts';
import { mirrorWrites } from './mirrors.ts';
import { CLUSTER, USER_CA_BUNDLE } from './names.ts';
import { openShiftResources, type WithSpec } from './resources.ts';
import {
  administrators,
  certificateWrites,
  kubeadmin,
  pullSecret,
  trustBundle,
} from './secrets.ts';
import { changed, type SiteWrite } from './site-write.ts';

/** What a site brings besides its configuration. */
export interface SiteIdentity {
  /** Of `api.<cluster>.<domain>`. */
  readonly api: KeyPair;
  /** Of `*.apps.<cluster>.<domain>`. */
  readonly ingress: KeyPair;
  /** The authority (PEM) of the administrators. */
  readonly administrators: string;
}

/**
 * Every object of OpenShift that has something of its site, in the order in which they are written, one write each. First what
 * others refer to, so that no operator sees a name without what it names. Then what the machine-config operator makes
 * one new configuration of the node from. Last the domain: what changes the addresses of console and OAuth, of which the API
 * server's operator is told by others, is before what that operator reads itself.
 *
 * @param former domains that the node has had
 */
export function siteWrites(
  site: SiteConfig,
  identity: SiteIdentity,
  former: Domains['former'],
): SiteWrite[] {
  const domains = { former, site: siteDomain(site) };
  const { additionalTrustBundle: trust } = site;
  const { ingresses, ingressControllers, apiServers, proxies } = openShiftResources;
  const ofOperator = { namespace: 'openshift-ingress-operator', name: 'default' };
  return [
    ...certificateWrites(identity.api, identity.ingress),
    ...when(trust, trustBundle),
    ...when(site.kubeadminPasswordHash, kubeadmin),

    ...when(site.pullSecret, pullSecret),
    ...(site.imageMirrors === undefined ? [] : mirrorWrites(site.imageMirrors)),
    ...when(site.sshKeys, sshKeys),
    ...(site.additionalNtpSources.length === 0 ? [] : [timeServers(site.additionalNtpSources)]),
    ...(site.proxy === undefined && trust === undefined
      ? []
      : [changed('Proxy cluster', proxies, { name: CLUSTER }, (found) => siteProxy(found, site))]),

    changed('IngressController default', ingressControllers, ofOperator, siteIngressController),
    changed('Ingress cluster', ingresses, { name: CLUSTER }, (found) =>
      siteIngress(found, domains),
    ),
    changed('APIServer cluster', apiServers, { name: CLUSTER }, (found) =>
      siteApiServer(found, domains),
    ),
    administrators(identity.administrators),
  ];
}

const when = <T>(value: T | undefined, write: (value: T) => SiteWrite): SiteWrite[] =>
  value === undefined ? [] : [write(value)];

/**
 * Proxy "cluster" for a site. Its operator adds what the installation has to `noProxy`: `api-int`, and the networks of that time. The
 * names and the networks of the site are added here: operators dial their own Routes.
 */
export function siteProxy(
  found: WithSpec,
  site: Pick<
    SiteConfig,
    'proxy' | 'additionalTrustBundle' | 'clusterName' | 'baseDomain' | 'machineNetworks'
  >,
): WithSpec {
  const { proxy, additionalTrustBundle } = site;
  const trusted =
    additionalTrustBundle === undefined ? {} : { trustedCA: { name: USER_CA_BUNDLE } };
  if (proxy === undefined) return { ...found, spec: { ...found.spec, ...trusted } };
  const { httpProxy: _http, httpsProxy: _https, noProxy: _no, ...others } = found.spec ?? {};
  const own = [`.${siteDomain(site)}`, ...site.machineNetworks];
  const complete = { ...proxy, noProxy: withoutProxy(proxy.noProxy, own) };
  const settings = Object.entries(complete).filter(([, value]) => value !== undefined);
  return { ...found, spec: { ...others, ...Object.fromEntries(settings), ...trusted } };
}

/** `*` stays alone: nothing uses the proxy. */
const withoutProxy = (given: string, own: readonly string[]): string =>
  given === '*'
    ? given
    : [...new Set([...given.split(',').filter((each) => each !== ''), ...own])].join(',');
