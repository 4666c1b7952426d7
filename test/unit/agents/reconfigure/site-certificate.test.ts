/** The certificate of the API that a site gives: put in place, shown for its name, trusted, and gone at the next site. */
import { createServer, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { siteClock } from '../../../../agents/reconfigure/clock.ts';
import { presentInput, type ReconfigureContext } from '../../../../agents/reconfigure/context.ts';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { dialled, renameAtSite, shownAs } from '../../../../agents/reconfigure/names.ts';
import { touchedFiles } from '../../../../agents/reconfigure/touched.ts';
import { issueAdministrator } from '../../../../agents/steps/certificates/administrator.ts';
import { listCertificates } from '../../../../agents/steps/certificates/list.ts';
import { makeVolume } from '../../../../cli/site/make-volume.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { identityOf, inputFor } from '../../../../lib/change/identity/identity.ts';
import type { SiteCertificate } from '../../../../lib/config/site-config/site-config.ts';
import { createSuccessor } from '../../../../lib/pki/authority.ts';
import { chainAnchor } from '../../../../lib/relocation/site-volume/shown-certificate.ts';
import { apiServerPod } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { requestPem } from '../../cluster/csr/requests.ts';
import { ageKeys } from '../../relocation/site-volume/volumes.ts';
import { arrived } from './site-host.ts';

const NAME = 'api.shop.example.com';
const CERTIFICATE = '/etc/kubernetes/pki/kube-apiserver/site-api.crt';
const KEY = '/etc/kubernetes/pki/kube-apiserver/site-api.key';
const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const DAY_MS = 86_400_000;

const root = await createAuthority('issuer', 1000);
// An issuer below a root that nobody sends.
const { cross: intermediate = '', ...issuer } = await createSuccessor(root, new Date());
const leaf = (now?: Date) =>
  issueLeaf(
    issuer,
    { subject: { commonName: 'api' }, usage: 'server', dnsNames: [NAME], lifetimeDays: 100 },
    now,
  );
const own = await leaf();
const given = { certificate: own.certificate + intermediate, key: own.key };

async function atSite(t: Test) {
  const it = await arrived(t);
  return { ...it, context: withApi(it.context, given) };
}

const withApi = (context: ReconfigureContext, api: SiteCertificate): ReconfigureContext => ({
  ...context,
  site: { ...context.site, certificates: { api, ingress: undefined } },
});

t.test('it is put in place for its name alone, and gone at a site without one', async (t) => {
  const { host, context } = await atSite(t);
  const before = host.read(MANIFEST);
  const kept = await touchedFiles(context);
  for (const path of [CERTIFICATE, KEY, MANIFEST]) t.ok(kept.includes(path), `${path} is kept`);
  for (const step of [placeSiteFiles, credentials]) {
    t.notOk(await step.holds(context, host.progress()), step.name);
    await step.run(context, host.progress());
    t.ok(await step.holds(context, host.progress()), step.name);
  }
  t.equal(host.read(CERTIFICATE), given.certificate);
  t.equal(host.read(KEY), given.key);
  t.same([host.mode(CERTIFICATE), host.mode(KEY)], [0o644, 0o600]);
  const flag = `--tls-sni-cert-key=${CERTIFICATE},${KEY}:${NAME}`;
  const withoutFlag = (manifest: string) => manifest.replace(new RegExp(`^ +- ${flag}\n`, 'm'), '');
  const placed = host.read(MANIFEST);
  t.not(placed, before);
  t.equal(withoutFlag(placed), before, 'nothing else of the API server is different');
  t.equal(host.mode(MANIFEST), 0o600);
  const { items } = await listCertificates(host.paths);
  t.match(
    items.filter(({ name }) => name === 'site-api'),
    [{ kind: 'leaf', state: 'valid', renewedBy: 'nobody' }, { kind: 'private-key' }],
  );

  const next = withApi(context, undefined);
  for (const path of [CERTIFICATE, KEY]) t.ok((await touchedFiles(next)).includes(path));
  t.notOk(await placeSiteFiles.holds(next, host.progress()));
  await placeSiteFiles.run(next, host.progress());
  t.notOk(await credentials.holds(next, host.progress()), 'the API server still names it');
  await credentials.run(next, host.progress());
  t.equal(host.read(MANIFEST), before);
  t.notOk(host.has(CERTIFICATE));
  t.notOk(host.has(KEY));
  t.notMatch(host.read('/etc/sno-agents/render-input.json'), /apiCertificateName/);
  t.notMatch(host.read('/etc/sno-agents/cluster.json'), /apiCertificateName/);
});

t.test('another name of the cluster, later, is not shown with it', async (t) => {
  const { host, context } = await atSite(t);
  await placeSiteFiles.run(context, host.progress());
  const input = await presentInput(context);
  const moved = inputFor(input, { ...identityOf(input), clusterName: 'other' });
  t.match(apiServerPod(moved).manifest, `${KEY}:${NAME}\n`);
});

t.test('a certificate of tomorrow waits for the clock', async (t) => {
  const { host, context } = await atSite(t);
  t.ok(await siteClock.holds(context, host.progress()));
  const early = await leaf(new Date(Date.now() + 3 * DAY_MS));
  const ahead = withApi(context, early);
  t.notOk(await siteClock.holds(ahead, host.progress()));
});

t.test('an API that does not show the certificate of its name is said, with where', async (t) => {
  const { host, context, run } = await arrived(t);
  const says = /api\.shop\.example\.com does not show its certificate at 127\.0\.0\.1/;
  const refused = {
    ...{ kind: 'retry', code: 'site-name', message: says },
    cause: { code: 'ECONNREFUSED' },
  };
  t.match(await thrownBy(run(renameAtSite)), refused, 'of its own authority');
  const atSite = renameAtSite.run(withApi(context, given), host.progress());
  t.match(await thrownBy(atSite), refused, 'of the site');
});

t.test('names are dialled in the families of the cluster', async (t) => {
  const { host } = await arrived(t);
  const served = createServer({ cert: given.certificate, key: given.key }, (socket: TLSSocket) =>
    socket.on('error', () => {}),
  );
  await new Promise<void>((resolve) => served.listen(0, '0.0.0.0', resolve));
  t.teardown(() => served.close());
  const address = served.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const entry = (local: string) => ({
    ifname: 'eno1',
    addr_info: [{ local, prefixlen: 128, scope: 'global' }],
  });
  // Nobody answers at the second one.
  const all = [entry('127.0.0.2'), entry('2001:db8::5')];
  host.programs.give('ip', `cat <<'END'\n${JSON.stringify(all)}\nEND`);
  const wanted = [
    { name: NAME, port, given: given.certificate, ca: chainAnchor(given.certificate) },
  ];
  const signal = AbortSignal.timeout(20_000);
  t.equal(await dialled(wanted, signal, ['IPv4']), `${NAME} at 127.0.0.1, 127.0.0.2`);
  t.match(await thrownBy(dialled(wanted, signal, ['IPv6'])), { message: /at 2001:db8::5/ });
});

t.test('it is dialled: that one, and no other of its issuer', async (t) => {
  const served = createServer({ cert: given.certificate, key: given.key }, (socket: TLSSocket) =>
    socket.on('error', () => {}),
  );
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve));
  t.teardown(() => served.close());
  const address = served.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const dial = (certificate: string, servername = NAME) =>
    shownAs(
      certificate,
      { host: '127.0.0.1', port, servername, ca: chainAnchor(certificate) },
      AbortSignal.timeout(10_000),
    );
  await dial(given.certificate);
  await dial(own.certificate);
  const { host } = await arrived(t);
  host.programs.give('ip', 'echo "[]"');
  const ca = chainAnchor(given.certificate);
  const at = { name: NAME, port, ca };
  for (const certificate of [given.certificate, undefined]) {
    const all = [{ ...at, given: certificate }];
    t.equal(await dialled(all, AbortSignal.timeout(10_000)), `${NAME} at 127.0.0.1`);
  }
  const other = await leaf();
  await t.rejects(dial(other.certificate + intermediate), /shows another certificate/);
  await t.rejects(dial(root.certificate), /another certificate|verify|issuer/);
  await t.rejects(dial(given.certificate, 'api.other.example.com'), /altnames/);
});

t.test('kubeconfigs trust whom a client has to trust', async (t) => {
  const { host, context } = await atSite(t);
  await placeSiteFiles.run(context, host.progress());
  host.write('/jo.csr', await requestPem({ subject: [{ CN: ['jo'] }], names: [] }));
  const { cluster } = await presentInput(context);
  const serving = host.read('/etc/kubernetes/pki/ca/serving/ca.crt');
  const trustedFor = async (of: typeof cluster) => {
    const request = { path: host.paths.at('/jo.csr'), days: 1, now: new Date() };
    return authorityIn((await issueAdministrator(host.paths, of, request)).kubeconfig);
  };
  const shop = { ...cluster, name: 'shop', baseDomain: 'example.com' };
  t.equal(await trustedFor(shop), serving + intermediate);
  t.equal(
    await trustedFor(cluster),
    serving,
    'the API has another name than that of the certificate',
  );

  const { recipient } = await ageKeys();
  const made = await makeVolume(
    { config: context.site, files: new Map(), skipped: [], notRead: [] },
    { recipient },
    { facts: undefined, now: new Date(), signal: AbortSignal.timeout(60_000) },
  );
  const trusted = authorityIn(made.outputs[0]?.contents ?? '');
  t.equal(trusted.split('BEGIN CERTIFICATE').length, 3, "the node's own, and the site's");
  t.ok(trusted.endsWith(intermediate));
});

function authorityIn(kubeconfig: string): string {
  const { clusters } = parse(kubeconfig);
  return Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
}
