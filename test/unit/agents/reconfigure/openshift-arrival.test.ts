/** The steps `settle` and `names` of OpenShift: operators say that they are at the site, and it is dialled. */
import { createServer, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import {
  requireSiteIdentity,
  siteCertificatesOnOpenShift,
} from '../../../../agents/reconfigure/openshift/certificates.ts';
import { namesAt } from '../../../../agents/reconfigure/openshift/names.ts';
import { settleOpenShiftSite } from '../../../../agents/reconfigure/openshift/settle.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { startSiteApi } from '../../relocation/site-openshift/site-api.ts';
import { siteContext, stoppedAtEachRequest } from './openshift-step.ts';

const INGRESS = '/apis/config.openshift.io/v1/ingresses/cluster';
const CONSOLE = 'console-openshift-console.apps.sno';
const SITE = 'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n';
const FORMER = { clusterName: 'sno', baseDomain: 'factory.test' };

/** In the place of the API server, or of the router: shows one certificate to everybody. */
async function shows(t: Test, { certificate, key }: KeyPair): Promise<number> {
  const server = createServer({ cert: certificate, key }, (socket: TLSSocket) =>
    socket.on('error', () => undefined),
  );
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A cluster whose objects are those of the site; its operators have not seen them. */
async function atSite(t: Test) {
  const it = await startSiteApi(t);
  const { host, context } = await siteContext(t, it.client, { former: FORMER, site: SITE });
  host.programs.give('ip', 'echo "[]"');
  await siteCertificatesOnOpenShift.run(context, host.progress());
  const identity = await requireSiteIdentity(context);
  await it.carryOut(SITE, identity);
  it.writes();
  const publish = (...currentHostnames: string[]) => {
    const found = it.api.get(INGRESS);
    if (found === undefined) throw new Error(INGRESS);
    const componentRoutes = [{ namespace: 'openshift-console', name: 'console', currentHostnames }];
    it.api.set(INGRESS, { ...found, status: { componentRoutes } });
  };
  return { ...it, host, context, identity, publish };
}

t.test('names: not before the operators say that they are there', async (t) => {
  const { api, host, context, identity, publish, writes } = await atSite(t);
  const ports = { api: await shows(t, identity.api), ingress: await shows(t, identity.ingress) };
  const run = (signal?: AbortSignal) => namesAt(ports).run(context, host.progress(signal));
  publish(`${CONSOLE}.factory.test`);
  t.strictSame(await run(), {
    kind: 'not-yet',
    reason: `openshift-console/console is at ${CONSOLE}.factory.test, not yet at ${CONSOLE}.site.test`,
  });
  publish(`${CONSOLE}.site.test`);
  // Of the site, and one that a router has announced.
  const own = { local: '127.0.0.2', prefixlen: 24, scope: 'global' };
  const announced = { local: '2001:db8::77', prefixlen: 64, scope: 'global', dynamic: true };
  const links = JSON.stringify([{ ifname: 'br-ex', addr_info: [own, announced] }]);
  host.programs.give('ip', `echo '${links}'`);
  const apps = ['console-openshift-console', 'downloads-openshift-console', 'oauth-openshift'];
  const dialled = ['api.sno.site.test', ...apps.map((label) => `${label}.apps.sno.site.test`)];
  t.strictSame(await run(), {
    kind: 'done',
    note: `${dialled.join(', ')} at 127.0.0.1, 127.0.0.2`,
  });
  t.equal(await stoppedAtEachRequest(t, api, run), 1);
  t.strictSame(writes(), [], 'to look changes nothing');
});

t.test('names: a server that was not rolled out shows another certificate', async (t) => {
  const { host, context, identity } = await atSite(t);
  const other = await atSite(t);
  const api = await shows(t, identity.api);
  const ingress = await shows(t, identity.ingress);
  for (const [ports, name] of [
    [{ api: await shows(t, other.identity.api), ingress }, 'api.sno.site.test'],
    [{ api, ingress: await shows(t, other.identity.ingress) }, `${CONSOLE}.site.test`],
    [{ api: ingress, ingress: api }, 'api.sno.site.test'],
    [{ api, ingress: api }, `${CONSOLE}.site.test`],
  ] as const) {
    t.match(await thrownBy(namesAt(ports).run(context, host.progress())), {
      kind: 'retry',
      code: 'site-name',
      message: `${name} does not show its certificate at 127.0.0.1`,
    });
  }
});

t.test('settle: waits for the Node of this host, for the time that operators need', async (t) => {
  const { api, put, host, context, writes } = await atSite(t);
  put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'edge-1' } });
  api.rule(({ path }) => {
    if (path === '/readyz') return { code: 200, body: 'ok' };
    return /^\/apis\/[^/]+\/[^/]+$/.test(path) ? refusal(404, { reason: 'NotFound' }) : undefined;
  });
  const { reconfigureOperatorsWindowMs: windowMs } = context.settings;
  const ended = host.progress(AbortSignal.timeout(60_000), 1);
  t.match(await thrownBy(settleOpenShiftSite.run(context, ended)), {
    kind: 'deadline',
    message: `did not settle at its site; expected no change for ${windowMs / 1000} s`,
  });
  const stop = new AbortController();
  const running = thrownBy(settleOpenShiftSite.run(context, host.progress(stop.signal)));
  await host.said(/Node edge-0/);
  const stopped = new Error('stopped by the test');
  stop.abort(stopped);
  t.equal(await running, stopped);
  t.strictSame(writes(), []);
});
