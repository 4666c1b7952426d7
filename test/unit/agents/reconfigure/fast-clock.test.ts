/** A host whose clock was fast when it arrived: what nobody signs again is valid once the clock is right. */
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import {
  siteCertificatesOnOpenShift,
  siteIdentity,
} from '../../../../agents/reconfigure/openshift/certificates.ts';
import { issueAdministrator } from '../../../../agents/steps/certificates/administrator.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { certificatesIn, inspectCertificate, validityOf } from '../../../../lib/pki/certificate.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import { rotatableLeaves, servingLeafFiles } from '../../../../lib/render/kubernetes/leaves.ts';
import { input } from '../../render/rendered-host.ts';
import { DHCP_SITE, openShiftArrived } from './openshift-site.ts';
import { arrived, STATE } from './site-host.ts';

/** Runs it with a clock that is fast by a month. */
async function withFastClock(t: Test, run: () => Promise<unknown>): Promise<void> {
  t.teardown(() => mock.timers.reset());
  mock.timers.enable({ apis: ['Date'], now: Date.now() + daysMs(30) });
  await run();
  mock.timers.reset();
}

const isValidNow = (pem: string): boolean => {
  const { notBefore, notAfter } = validityOf(pem);
  return notBefore.getTime() <= Date.now() && Date.now() < notAfter.getTime();
};

const clientOf = (kubeconfig: string): string => {
  const [, data = ''] = /client-certificate-data: (\S+)/.exec(kubeconfig) ?? [];
  return Buffer.from(data, 'base64').toString();
};

t.test('credentials: authorities and what they sign are valid once it is right', async (t) => {
  const { host, context, run } = await arrived(t);
  const path = `${STATE}/site/credentials/admin.csr`;
  let kubeconfig = '';
  await withFastClock(t, async () => {
    await run(credentials);
    const issued = { path: host.paths.at(path), days: 30, now: new Date() };
    ({ kubeconfig } = await issueAdministrator(context.paths, context.cluster, issued));
  });
  for (const name of ['serving', 'admin']) {
    t.ok(isValidNow(host.read(`/etc/kubernetes/pki/ca/${name}/ca.crt`)), name);
  }
  for (const { name, certificate } of rotatableLeaves.filter(({ certificate }) =>
    host.has(certificate),
  )) {
    t.ok(isValidNow(host.read(certificate)), name);
  }
  t.ok(isValidNow(clientOf(kubeconfig)), 'administrator');
});

t.test('credentials of OpenShift are valid once it is right', async (t) => {
  const { host, context } = await openShiftArrived(t, { config: DHCP_SITE });
  const factory = new Date(Date.now() - daysMs(90));
  const pair = await issueLeaf(
    await createAuthority('kubelet-signer', 365, factory),
    { subject: { commonName: 'system:node:edge-0' }, usage: 'client' },
    factory,
  );
  host.write('/var/lib/kubelet/pki/kubelet-client-first.pem', `${pair.certificate}${pair.key}`);
  const fast = await createAuthority('of a fast clock', 365, new Date(Date.now() + daysMs(20)));
  host.write('/var/lib/kubelet/pki/kubelet-server-fast.pem', fast.certificate);
  await withFastClock(t, () => siteCertificatesOnOpenShift.run(context, host.progress()));
  const made = await siteIdentity(context);
  const chains = [made?.api.certificate, made?.ingress.certificate, made?.administrators];
  const all = chains.flatMap((chain) => certificatesIn(chain ?? ''));
  t.equal(all.length, 5, 'two leaves with their authority, and that of administrators');
  for (const pem of all) t.ok(isValidNow(pem), inspectCertificate(pem).subject.commonName);
  t.ok(isValidNow(clientOf(host.read(`${STATE}/admin.kubeconfig`))), 'administrator');
});

t.test('what the control plane renders anew is valid once it is right', async (t) => {
  const serving = await createAuthority('serving-ca', 3650, new Date(Date.now() - daysMs(90)));
  let texts: string[] = [];
  await withFastClock(t, async () => {
    texts = (await servingLeafFiles(input, serving)).map(({ contents }) => contents);
  });
  t.ok(isValidNow(texts.find((text) => text.includes('BEGIN CERTIFICATE')) ?? ''));
});
