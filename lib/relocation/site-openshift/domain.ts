import { isWithin, movedHost } from '../../config/site/moved-host.ts';
import { appsDomain, SITE } from './names.ts';
import type { ApiServerConfig, ComponentRoute, IngressConfig, WithSpec } from './resources.ts';

/** `<cluster>.<base domain>`: of the site, and those that the node has had before. */
export interface Domains {
  readonly former: readonly string[];
  readonly site: string;
}

/**
 * The routes that operators publish for configuration (Ingress.status.componentRoutes), with the first part of the
 * name that they have by default.
 */
const COMPONENTS = [
  { namespace: 'openshift-console', name: 'console', label: 'console-openshift-console' },
  { namespace: 'openshift-console', name: 'downloads', label: 'downloads-openshift-console' },
  { namespace: 'openshift-authentication', name: 'oauth-openshift', label: 'oauth-openshift' },
] as const;

const isComponent = ({ namespace, name }: Pick<ComponentRoute, 'namespace' | 'name'>): boolean =>
  COMPONENTS.some((each) => each.namespace === namespace && each.name === name);

/** Where console, downloads and OAuth are at a site. */
export const componentHosts = (site: string): Record<'namespace' | 'name' | 'hostname', string>[] =>
  COMPONENTS.map(({ namespace, name, label }) => ({
    ...{ namespace, name, hostname: `${label}.${appsDomain(site)}` },
  }));

/**
 * Why an operator is not where the site wants its routes; undefined if all are. What no operator publishes, such as a console
 * that is not installed, is not waited for.
 */
export function whyElsewhere({ spec, status }: IngressConfig): string | undefined {
  for (const { namespace, name, hostname } of spec.componentRoutes ?? []) {
    const found = status?.componentRoutes?.find(
      (each) => each.namespace === namespace && each.name === name,
    );
    const { currentHostnames = [] } = found ?? {};
    if (found === undefined || currentHostnames.includes(hostname)) continue;
    return `${namespace}/${name} is at ${currentHostnames.join(', ') || 'no name'}, not yet at ${hostname}`;
  }
  return undefined;
}

/**
 * Ingress "cluster" for a site: where new routes and those of console, downloads and OAuth are. `spec.domain` stays,
 * since the API refuses every other one; at the domain of the installation nothing but it is needed.
 */
export function siteIngress(found: IngressConfig, { former, site }: Domains): IngressConfig {
  const { appsDomain: _, componentRoutes = [], ...spec } = found.spec;
  const apps = appsDomain(site);
  const isInstalled = apps === spec.domain;
  const secret = { name: SITE.ingressSecret };
  const own = componentHosts(site).map((each) => ({ ...each, servingCertKeyPairSecret: secret }));
  const others = componentRoutes
    .filter((each) => !isComponent(each))
    .map((each) => ({ ...each, hostname: inSite(each.hostname, { former, site }) }));
  const routes = [...(isInstalled ? [] : own), ...others];
  return {
    ...found,
    spec: {
      ...spec,
      ...(isInstalled ? {} : { appsDomain: apps }),
      ...(routes.length === 0 ? {} : { componentRoutes: routes }),
    },
  };
}

/** The domain that the node has had in which a name lies; one of them may lie in the site's, or the other way round. */
export function formerDomain(host: string, { former, site }: Domains): string | undefined {
  const [closest] = [site, ...former]
    .filter((domain) => isWithin(host, domain))
    .toSorted((a, b) => b.length - a.length);
  return closest === site ? undefined : closest;
}

/** A name in the domain of the site, if it was in one that the node has had. */
export function inSite(host: string, domains: Domains): string {
  const from = formerDomain(host, domains);
  return from === undefined ? host : movedHost(host, from, domains.site);
}

/**
 * APIServer "cluster" for a site: shows the site's certificate to whoever asks for its name. What the cluster's own parts
 * ask for, such as api-int, stays with the operator: it refuses such an entry.
 */
export function siteApiServer(found: ApiServerConfig, { site }: Domains): ApiServerConfig {
  const { servingCerts, ...spec } = found.spec ?? {};
  const name = `api.${site}`;
  const others = (servingCerts?.namedCertificates ?? []).filter(
    ({ names, servingCertificate }) =>
      servingCertificate.name !== SITE.apiSecret && names?.includes(name) !== true,
  );
  const own = { names: [name], servingCertificate: { name: SITE.apiSecret } };
  return {
    ...found,
    spec: { ...spec, servingCerts: { ...servingCerts, namedCertificates: [own, ...others] } },
  };
}

/** The default IngressController for a site: what a route without a certificate of its own shows. */
export const siteIngressController = (found: WithSpec): WithSpec => ({
  ...found,
  spec: { ...found.spec, defaultCertificate: { name: SITE.ingressSecret } },
});
