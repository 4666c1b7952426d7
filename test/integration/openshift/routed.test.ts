/**
 * Routes that have moved, dialled: through OpenShift's own router with haproxy. Needs components that
 * `npm run lab -- --scenario openshift-components` builds, haproxy, and openshift-router (SNO_OPENSHIFT_ROUTER).
 *
 * What runs everywhere: what is written of Routes and certificates, test/unit/relocation/site-openshift; not what the router makes of
 * it.
 */

import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { stringify } from 'yaml';
import { shownNames } from '../../../agents/reconfigure/names.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { parseSiteConfig } from '../../../lib/config/site-config/read.ts';
import type { KeyPair } from '../../../lib/pki/authority.ts';
import { moveRoutes } from '../../../lib/relocation/site-openshift/move-routes.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import { carryOut } from '../../../lib/relocation/site-openshift/site-write.ts';
import { siteWrites } from '../../../lib/relocation/site-openshift/site-writes.ts';
import { noRouter, startRouter } from './router.ts';
import { notBuilt, startSiteCluster } from './site-cluster.ts';

const LIFETIME_MS = 300_000;
const ANSWER_MS = 20_000;
const skip = (await notBuilt()) || (await noRouter());
const OLD = 'apps.sno.factory.test';
const NEW = 'apps.sno.site.test';

const leaf = (authority: KeyPair, name: string) =>
  issueLeaf(authority, { subject: { commonName: name }, usage: 'server', dnsNames: [name] });

const route = (name: string, host: string, tls: object = {}) => ({
  apiVersion: 'route.openshift.io/v1',
  kind: 'Route',
  metadata: { namespace: 'shop', name },
  spec: {
    host,
    to: { kind: 'Service', name: 'shop' },
    tls: { termination: 'edge', insecureEdgeTerminationPolicy: 'Redirect', ...tls },
  },
});

t.test('Routes through the router', { skip, timeout: LIFETIME_MS }, async (t) => {
  const server = await startSiteCluster(t, LIFETIME_MS);
  const { admin, limits, apply } = server;
  const factory = await createAuthority('factory');
  const authority = await createAuthority('site');
  const own = await leaf(factory, `own.${OLD}`);
  const objects = [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'shop', name: 'shop' },
      spec: { ports: [{ port: 80 }] },
    },
    route('web', `web.${OLD}`),
    route('own', `own.${OLD}`, { certificate: own.certificate, key: own.key }),
  ];
  await apply('routes', objects.map((each) => stringify(each)).join('---\n'));
  const router = await startRouter(t, server, await leaf(factory, `*.${OLD}`), LIFETIME_MS);

  /** By TLS, with this authority only: the name of the certificate, or the error. */
  const certificateOf = (name: string, { certificate: ca }: KeyPair) =>
    shownNames(
      { host: '127.0.0.1', port: router.httpsPort, servername: name, ca },
      AbortSignal.timeout(ANSWER_MS),
    ).then(({ subject }) => subject.CN, describeError);
  /** By HTTP: a Route that the router serves redirects. */
  const answerOf = async (name: string) => {
    const asked = request({ host: '127.0.0.1', port: router.httpPort, headers: { host: name } });
    asked.end();
    const [answer] = await once(asked, 'response', { signal: AbortSignal.timeout(ANSWER_MS) });
    answer.resume();
    return `${answer.statusCode} ${answer.headers.location ?? ''}`.trim();
  };
  const becomes = async (what: () => Promise<unknown>, wanted: unknown) => {
    const until = Date.now() + ANSWER_MS;
    for (;;) {
      const found = await what().catch(describeError);
      if (found === wanted || Date.now() > until) return t.equal(found, wanted);
      await sleep(250);
    }
  };

  await becomes(() => answerOf(`web.${OLD}`), `302 https://web.${OLD}/`);
  t.equal(await certificateOf(`web.${OLD}`, factory), `*.${OLD}`, 'in the factory');

  const site = parseSiteConfig(
    'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n',
    'site-config.yaml',
    { files: new Map(), now: new Date() },
  );
  const ingress = await leaf(authority, `*.${NEW}`);
  const identity = { api: await leaf(authority, 'api.sno.site.test'), ingress, administrators: '' };
  const domains = { former: ['sno.factory.test'], site: 'sno.site.test' };
  await carryOut(admin, siteWrites(site, identity, domains.former), limits);
  const secret = { namespace: 'openshift-ingress', name: 'sno-site-ingress' };
  const { data = {} } = await admin.get(openShiftResources.secrets, secret, limits);
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString();
  await router.mount({ certificate: text('tls.crt'), key: text('tls.key') });
  await moveRoutes(admin, domains, limits, () => undefined);

  await t.test('the name at the site shows the new certificate', async () => {
    await becomes(() => answerOf(`web.${NEW}`), `302 https://web.${NEW}/`);
    await becomes(() => certificateOf(`web.${NEW}`, authority), `*.${NEW}`);
  });
  await t.test('the old name is not served, and no certificate names it', async (t) => {
    await becomes(() => answerOf(`web.${OLD}`), '503');
    t.match(await certificateOf(`web.${OLD}`, authority), /altnames|ERR_TLS_CERT_ALTNAME_INVALID/);
  });
  await t.test('a Route with a certificate of its own shows that one', async (t) => {
    await becomes(() => answerOf(`own.${NEW}`), `302 https://own.${NEW}/`);
    t.match(await certificateOf(`own.${NEW}`, factory), /altnames|ERR_TLS_CERT_ALTNAME_INVALID/);
  });
  await t.test('the router admits what has moved', async (t) => {
    const { items } = await admin.list(openShiftResources.routes, {}, limits);
    for (const { metadata, status } of items) {
      t.match(status, {
        ingress: [
          {
            host: `${metadata.name}.${NEW}`,
            routerName: 'default',
            conditions: [{ type: 'Admitted', status: 'True' }],
          },
        ],
      });
    }
  });
});
