import type { Test } from 'tap';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { resourcePath } from '../../../../lib/clients/kube/resources.ts';
import { parseSiteConfig } from '../../../../lib/config/site-config/read.ts';
import type { SiteConfig } from '../../../../lib/config/site-config/site-config.ts';
import { carryOut } from '../../../../lib/relocation/site-openshift/site-write.ts';
import {
  type SiteIdentity,
  siteWrites,
} from '../../../../lib/relocation/site-openshift/site-writes.ts';
import { type FakeApi, startFakeApi } from '../../clients/kube/fake-api.ts';
import type { Stored } from '../../clients/kube/stored-writes.ts';
import { INSTALLED, type SiteObject } from './installed-objects.ts';
import { OPENSHIFT_KINDS } from './openshift-kinds.ts';

export const FACTORY = 'sno.factory.test';
export const MINIMAL = 'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n';

/** Names alone: no write looks into a certificate. */
export const IDENTITY: SiteIdentity = {
  api: { certificate: 'certificate of api', key: 'key of api' },
  ingress: { certificate: 'certificate of apps', key: 'key of apps' },
  administrators: 'authority of administrators',
};

export const TRUST = (await createAuthority('trusted by the site')).certificate;
export const PASSWORD = `$2y$10$${'a'.repeat(53)}`;
export const SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8tqllX80dTk9PMvYWfb5xk42X8w4+4ncCpkEX3nK3w site';

/** Everything that a site can say and an object has. */
export const WHOLE = `${MINIMAL}allowRestart: true
pull_secret: '{"auths":{"site.test":{"auth":"YTpi"}}}'
kubeadmin_password_hash: ${PASSWORD}
ssh_key: ${SSH_KEY}
additionalNTPSources: [ntp.site.test]
additionalTrustBundle: {userCaBundle: ${JSON.stringify(TRUST)}}
proxy: {httpProxy: "http://proxy.site.test:3128", httpsProxy: "http://tls.site.test:3129", noProxy: .site.test}
imageDigestSources:
  - {source: quay.test/ocp, mirrors: [registry.site.test/ocp], sourcePolicy: NeverContactSource}
imageTagSources:
  - {source: quay.test/tools, mirrors: [registry.site.test/tools]}
`;

export const siteOf = (text: string): SiteConfig =>
  parseSiteConfig(text, 'site-config.yaml', { files: new Map(), now: new Date() });

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Where an object of the kinds here is. @throws Error if none has that name */
export function placeOf({ kind, metadata }: Pick<SiteObject, 'kind' | 'metadata'>): string {
  const served = OPENSHIFT_KINDS.find((each) => each.kind === kind);
  if (served === undefined) throw new Error(`no kind ${kind}`);
  return resourcePath(served, metadata);
}

/** Without what the API server adds. */
export function plain(object: Stored | undefined): object | undefined {
  if (object === undefined) return undefined;
  const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * The API of a cluster that has these objects, until the test ends. A write that names a field that OpenShift does not know
 * fails the test.
 */
export async function startSiteApi(t: Test, objects: readonly SiteObject[] = INSTALLED) {
  const { api, client } = await startFakeApi(t, OPENSHIFT_KINDS);
  for (const object of objects) api.set(placeOf(object), object);
  t.teardown(() => {
    if (api.pruned.length > 0) throw new Error(`pruned: ${api.pruned.join(', ')}`);
  });
  const limits = { signal: AbortSignal.timeout(300_000), deadlineMs: 60_000 };
  let seen = 0;
  return {
    api,
    client,
    limits,
    put: (object: SiteObject) => api.set(placeOf(object), object),
    carryOut: (text: string, identity = IDENTITY, former: readonly string[] = [FACTORY]) =>
      carryOut(client, siteWrites(siteOf(text), identity, former), limits),
    /** The requests since the last call that would change something. */
    writes(): string[] {
      const made = api.requests.slice(seen).filter(({ method }) => method !== 'GET');
      seen = api.requests.length;
      return made.map(({ method, path }) => `${method} ${path}`);
    },
    /** All objects, without what the API server adds. */
    state: (): Record<string, object | undefined> => stateOf(api),
  };
}

const stateOf = (api: FakeApi) =>
  Object.fromEntries([...api.all()].map(([path, object]) => [path, plain(object)]).toSorted());
