/** The names and certificates of a site on OpenShift; its objects and Routes: openshift-{objects,routes,arrival}.test.ts. */
import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { concludeSite } from '../../../../agents/reconfigure/conclude.ts';
import {
  siteCertificatesOnOpenShift,
  siteIdentity,
} from '../../../../agents/reconfigure/openshift/certificates.ts';
import { localNames } from '../../../../agents/reconfigure/openshift/local-names.ts';
import { renameOpenShiftAtSite } from '../../../../agents/reconfigure/openshift/names.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { daysMs, lifetimes } from '../../../../lib/pki/lifetimes.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { authorityCredentials } from '../../relocation/site-volume/volumes.ts';
import { keptHost } from './kept-host.ts';
import { openShiftFactory } from './openshift-site.ts';
import { arrived, insert, REQUEST, SITE, STATE } from './site-host.ts';

const STAGED = `${STATE}/credentials.json`;

t.test(
  'certificates: the authority of the volume signs those that the site does not bring',
  async (t) => {
    const { host, context } = await arrived(t);
    const given = await authorityCredentials();
    if (given.kind !== 'authorities') throw new Error('no authorities');
    const atSite = { ...context, credentials: given };
    t.notOk(await siteCertificatesOnOpenShift.holds(atSite, host.progress()));
    await siteCertificatesOnOpenShift.run(atSite, host.progress());
    t.ok(await siteCertificatesOnOpenShift.holds(atSite, host.progress()));
    t.equal(host.mode(STAGED), 0o600);
    const identity = await siteIdentity(atSite);
    t.equal(identity?.administrators, given.adminCa.certificate);
    const authority = new X509Certificate(given.servingCa.certificate);
    for (const [pair, name, other] of [
      [identity?.api, 'api.shop.example.com', 'api-int.shop.example.com'],
      [identity?.ingress, 'web.apps.shop.example.com', 'shop.example.com'],
    ] as const) {
      const leaf = new X509Certificate(pair?.certificate ?? '');
      t.ok(leaf.verify(authority.publicKey), name);
      t.ok(leaf.checkHost(name), name);
      t.ok(leaf.validToDate >= authority.validToDate, 'no operator renews it');
      t.notOk(leaf.checkHost(other), other);
      t.ok(pair?.certificate.endsWith(given.servingCa.certificate), 'its authority is behind it');
    }
    t.notOk(host.has(`${STATE}/admin.kubeconfig`), 'it is on the laptop');
  },
);

t.test('local-names: the node answers for its names at the site', async (t) => {
  const { host, context } = await arrived(t);
  const SERVED = '/etc/dnsmasq.d/sno-site.conf';
  host.programs.give(
    'systemctl',
    `[ "$*" = "restart dnsmasq.service" ] && cp "$ROOT${SERVED}" "$ROOT/read"`,
  );
  t.notOk(await localNames.holds(context, host.progress()));
  t.match(await localNames.run(context, host.progress()), { kind: 'done' });
  t.ok(await localNames.holds(context, host.progress()));
  const text = host.read(SERVED);
  t.equal(host.read('/read'), text, 'its name server reads it when it starts');
  for (const name of ['api', 'api-int', 'apps']) {
    t.match(text, `address=/${name}.shop.example.com/${context.request.from.nodeIps[0]}\n`);
  }
  for (const other of [
    text.replaceAll('192.0.2.10', '192.0.2.11'),
    `${text}address=/x/192.0.2.1`,
  ]) {
    host.write(SERVED, other);
    t.notOk(await localNames.holds(context, host.progress()), 'as a site before wrote it');
  }
});

t.test(
  'local-names: interrupted at any moment, the name server reads the whole file',
  async (t) => {
    const SERVED = '/etc/dnsmasq.d/sno-site.conf';
    const it = await keptHost(t, SITE);
    const { host, context } = it;
    host.write(SERVED, 'of the site before');
    host.programs.give('systemctl', `cp "$ROOT${SERVED}" "$ROOT/read"`);
    it.keep();
    await killedAtAnyMoment(t, {
      prepare: it.again,
      run: () => localNames.run(context, host.progress()),
      async allowed(_, when) {
        if (await localNames.holds(context, host.progress())) return;
        t.equal(host.read(SERVED), 'of the site before', when);
      },
      result: () => ({ read: host.read('/read'), mode: host.mode(SERVED) }),
      least: 5,
    });
    t.equal(host.read('/read'), host.read(SERVED));
    t.equal(host.mode(SERVED), 0o644);
  },
);

t.test('certificates: made once, and again for another volume', async (t) => {
  const { host, context } = await arrived(t);
  await siteCertificatesOnOpenShift.run(context, host.progress());
  const before = await siteIdentity(context);
  t.same(await siteIdentity(context), before);
  const next = { ...context.request, id: '00000000-0000-4000-8000-000000000000' };
  t.notOk(await siteCertificatesOnOpenShift.holds({ ...context, request: next }, host.progress()));
  host.write(STAGED, host.read(STAGED).slice(0, -100), 0o600);
  t.notOk(await siteCertificatesOnOpenShift.holds(context, host.progress()), 'a damaged file');
  await siteCertificatesOnOpenShift.run(context, host.progress());
  t.ok(await siteCertificatesOnOpenShift.holds(context, host.progress()));
});

t.test('certificates: those of the site are used as they are', async (t) => {
  const { host, context } = await arrived(t);
  const pair = { certificate: 'given', key: 'its key' };
  const site = { ...context.site, certificates: { api: pair, ingress: undefined } };
  await siteCertificatesOnOpenShift.run({ ...context, site }, host.progress());
  const identity = await siteIdentity(context);
  t.same(identity?.api, pair);
  t.ok(
    new X509Certificate(identity?.ingress.certificate ?? '').checkHost('a.apps.shop.example.com'),
  );
});

t.test('certificates: a request for an administrator is signed, and no key is kept', async (t) => {
  const { host, context } = await arrived(t);
  await siteCertificatesOnOpenShift.run(context, host.progress());
  const kubeconfig = host.read(`${STATE}/admin.kubeconfig`);
  t.equal(host.mode(`${STATE}/admin.kubeconfig`), 0o600);
  t.match(kubeconfig, 'https://api.shop.example.com:6443');
  t.notMatch(kubeconfig, 'client-key-data');
  const client = clientIn(kubeconfig);
  const identity = await siteIdentity(context);
  const authority = new X509Certificate(identity?.administrators ?? '');
  t.match(authority.subject, 'CN=sno-site-admin-ca', 'by which people know it');
  t.match(new X509Certificate(identity?.api.certificate ?? '').issuer, 'CN=sno-site-serving-ca');
  const left = client.validToDate.getTime() - Date.now();
  t.equal(Math.round(left / daysMs(1)), 365, 'days');
  t.ok(client.verify(authority.publicKey), 'by the authority that the cluster is told');
  const [, trusted = ''] = /certificate-authority-data: (\S+)/.exec(kubeconfig) ?? [];
  const serving = new X509Certificate(Buffer.from(trusted, 'base64'));
  t.ok(new X509Certificate(identity?.api.certificate ?? '').verify(serving.publicKey), 'the API');
  t.notMatch(host.read(STAGED), /"admin"/, 'whose key is not kept');
});

t.test(
  'certificates: valid since the first one of the kubelet, whatever the clock says',
  async (t) => {
    const at = (days: number) => new Date(Date.now() + daysMs(days));
    const kubelet = async (...days: number[]) => {
      const all = await Promise.all(
        days.map((each) => createAuthority('kubelet-signer', undefined, at(each))),
      );
      return all.map(({ certificate }) => certificate);
    };
    for (const [what, certificates, days] of [
      ['none', [], 0],
      ['of the factory, and a later one', await kubelet(-90, -30), -90],
      ['of a clock that was fast', await kubelet(90), 0],
    ] as const) {
      const { host, context } = await arrived(t);
      for (const [index, pem] of certificates.entries())
        host.write(`/var/lib/kubelet/pki/kubelet-client-${index}.pem`, pem, 0o600);
      await siteCertificatesOnOpenShift.run(context, host.progress());
      const identity = await siteIdentity(context);
      for (const pem of [identity?.administrators, identity?.api.certificate]) {
        const { validFromDate } = new X509Certificate(pem ?? '');
        const since = (validFromDate.getTime() - Date.now()) / daysMs(1);
        t.equal(Math.round(since + lifetimes.backdatingHours / 24), days, what);
      }
    }
  },
);

const clientIn = (kubeconfig: string): X509Certificate => {
  const [, data = ''] = /client-certificate-data: (\S+)/.exec(kubeconfig) ?? [];
  return new X509Certificate(Buffer.from(data, 'base64'));
};

for (const kind of ['request', 'authorities'] as const) {
  t.test(
    `certificates: interrupted at any moment, the kubeconfig fits them: ${kind}`,
    async (t) => {
      const it = await keptHost(t, SITE);
      const KUBECONFIG = `${STATE}/admin.kubeconfig`;
      it.host.write(KUBECONFIG, 'of the site before', 0o600);
      const given = kind === 'authorities' ? await authorityCredentials() : it.context.credentials;
      const context = { ...it.context, credentials: given };
      const fits = async () => {
        const identity = await siteIdentity(context);
        if (identity === undefined) return undefined;
        if (!it.host.has(KUBECONFIG)) return kind === 'authorities';
        const { publicKey } = new X509Certificate(identity.administrators);
        const text = it.host.read(KUBECONFIG);
        return text.includes('client-certificate-data') && clientIn(text).verify(publicKey);
      };
      it.keep();
      await killedAtAnyMoment(t, {
        prepare: it.again,
        run: ({ host }) => siteCertificatesOnOpenShift.run(context, host.progress()),
        async allowed(_, when) {
          t.not(await fits(), false, when);
        },
        result: async ({ host }) => ({ fits: await fits(), mode: host.mode(STAGED) }),
        least: kind === 'authorities' ? 6 : 10,
        isDurable: true,
      });
    },
  );
}

t.test('names: without the certificates of the site nothing is dialled', async (t) => {
  const { host, context } = await arrived(t);
  await t.rejects(renameOpenShiftAtSite.run(context, host.progress()), {
    kind: 'fatal',
    message: /certificates of the site's names do not exist/,
  });
});

t.test('certificates: nothing of them stays behind the end', async (t) => {
  const { host, context, run } = await arrived(t);
  await siteCertificatesOnOpenShift.run(context, host.progress());
  await t.rejects(run(concludeSite));
  t.notOk(host.has(STAGED));
});

const TRUST = JSON.stringify((await createAuthority('trusted by the site')).certificate);
const PLAIN = 'api_version: 1\ncluster_name: edge\nbase_domain: site.test\n';

for (const [name, more, says] of [
  ['another name of the Node', 'hostname: till-7\nrenameNode: true\n', /renameNode.*stays edge-0/s],
  [
    'the address of the site',
    'nodeAddress: site\nmachine_networks: [198.51.100.0/24]\n',
    /nodeAddress.*internal/s,
  ],
  [
    'time servers',
    'additionalNTPSources: [198.51.100.123]\n',
    /additionalNTPSources.*allowRestart: true/s,
  ],
  [
    'trusted certificates',
    `additionalTrustBundle: {userCaBundle: ${TRUST}}\n`,
    /additionalTrustBundle.*allowRestart: true/s,
  ],
  ['a proxy', 'proxy: {httpProxy: "http://proxy.site.test:3128"}\n', /proxy.*allowRestart: true/s],
] as const) {
  t.test(`the agent refuses on OpenShift: ${name}`, async (t) => {
    const host = await openShiftFactory(t);
    await insert(host, { config: PLAIN + more });
    await t.rejects(arrive(host.paths, AbortSignal.timeout(60_000)), {
      kind: 'usage',
      message: says,
    });
    t.notOk(host.has(REQUEST));
    t.notOk(host.has(`${STATE}/used.json`));
  });
}

t.test('the agent refuses on OpenShift: another name of the cluster', async (t) => {
  const host = await openShiftFactory(t);
  await insert(host, { config: PLAIN.replace('edge', 'shop') });
  await t.rejects(arrive(host.paths, AbortSignal.timeout(60_000)), {
    kind: 'usage',
    message: /cluster_name.*edge, which on OpenShift stays/s,
  });
});

t.test(
  'the agent takes a volume on OpenShift, and what costs a restart if that is allowed',
  async (t) => {
    for (const more of ['', 'additionalNTPSources: [198.51.100.123]\nallowRestart: true\n']) {
      const host = await openShiftFactory(t);
      await insert(host, { config: PLAIN + more });
      t.match(await arrive(host.paths, AbortSignal.timeout(60_000)), {
        kind: 'request',
        request: { from: { hostname: 'edge-0', nodeIps: ['192.0.2.10'] } },
      });
      t.ok(host.has(REQUEST));
    }
  },
);
