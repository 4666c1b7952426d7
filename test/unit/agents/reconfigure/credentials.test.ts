/** The credentials of a site: its own authorities, and nobody of the factory. */
import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { confirmSite } from '../../../../agents/reconfigure/confirm.ts';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import { certificatesIn, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { authorityPaths, laptopAdminCa } from '../../../../lib/render/kubernetes/authorities.ts';
import { rotatableLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../../../lib/render/kubernetes/trust.ts';
import { authorityCredentials } from '../../relocation/site-volume/volumes.ts';
import { arrived, STATE } from './site-host.ts';

const LEAF = '/etc/kubernetes/pki/kube-apiserver/serving.crt';

t.test('credentials: the administrators of the factory are refused', async (t) => {
  const { host, context, run, holds } = await arrived(t);
  const given = await authorityCredentials();
  if (given.kind !== 'authorities') throw new Error('no authorities');
  const atSite = { ...context, credentials: given };
  host.write('/etc/kubernetes/pki/ca/laptop-admin/ca.crt', 'the laptop of the factory');
  host.write(`${STATE}/admin.kubeconfig`, 'of the site before');
  const trust = '/etc/kubernetes/pki/kube-apiserver/client-ca.crt';
  const admin = '/etc/kubernetes/pki/ca/admin/ca.crt';
  const before = { trust: host.read(trust), admin: host.read(admin) };
  t.notOk(await credentials.holds(atSite, host.progress()));
  await credentials.run(atSite, host.progress());
  t.ok(await credentials.holds(atSite, host.progress()));
  const serving = host.read('/etc/kubernetes/pki/ca/serving/ca.crt');
  t.not(serving, given.servingCa.certificate, 'whose key is on copies of the volume');
  const [leaf = '', cross = ''] = certificatesIn(host.read(LEAF));
  t.ok(await isIssuedBy(leaf, serving));
  t.ok(await isIssuedBy(cross, given.servingCa.certificate), 'which the laptop trusts');
  t.equal(
    new X509Certificate(cross).publicKey.equals(new X509Certificate(serving).publicKey),
    true,
  );
  t.notOk(host.read(trust).includes(before.admin), 'the factory is not trusted');
  t.ok(host.read(trust).includes(host.read(admin)));
  t.ok(host.read(trust).includes(given.adminCa.certificate), 'the administrator of the site is');
  for (const { path, authorities, trustsLaptop } of trustFiles.filter((each) =>
    host.has(each.path),
  )) {
    if (!authorities.some((name) => name === 'serving' || name === 'admin')) continue;
    t.equal(host.read(path).includes(given.adminCa.certificate), trustsLaptop, path);
    t.equal(host.mode(path), 0o644, path);
  }
  t.notOk(host.has(`${STATE}/admin.kubeconfig`), 'it is refused too');
  const once = host.read(admin);
  await credentials.run(atSite, host.progress());
  t.equal(host.read(admin), once, 'made once');
  t.equal(host.mode(`${STATE}/credentials.json`), 0o600);
  for (const name of ['serving', 'admin'] as const) {
    t.equal(host.mode(authorityPaths(name).key), 0o600, name);
    t.equal(host.mode(authorityPaths(name).certificate), 0o644, name);
  }
  t.equal(host.mode(laptopAdminCa), 0o644);
  const leaves = rotatableLeaves.filter((each) => host.has(each.key));
  t.ok(leaves.length > 3);
  for (const { key, certificate } of leaves) {
    t.equal(host.mode(key), 0o600, key);
    if (certificate !== key) t.equal(host.mode(certificate), 0o644, certificate);
  }

  const request = { ...context.request, id: '11111111-1111-4111-8111-111111111111' };
  const next = { ...atSite, request };
  t.equal(await credentials.holds(next, host.progress()), false, 'another site has its own');
  await credentials.run(next, host.progress());
  t.not(host.read(admin), once);

  t.notOk(await holds(confirmSite));
  await run(credentials);
  t.notSame(before.trust, '');
});

t.test('credentials: what cannot be written is not passed over', async (t) => {
  const { host, run, holds } = await arrived(t);
  const path = '/etc/kubernetes/pki/ca/admin/ca.key';
  host.remove(path);
  host.write(`${path}/folder`);
  await t.rejects(run(credentials), path);
  host.remove(path);
  host.write(path, 'a key');
  t.notOk(await holds(credentials));
});

t.test('credentials: without keys on the volume the host makes its authorities', async (t) => {
  const { host, run } = await arrived(t);
  host.write('/etc/kubernetes/pki/ca/laptop-admin/ca.crt', 'the laptop of the factory');
  const serving = '/etc/kubernetes/pki/ca/serving/ca.crt';
  const before = host.read(serving);
  await run(credentials);
  t.not(host.read(serving), before);
  t.notOk(host.has('/etc/kubernetes/pki/ca/laptop-admin/ca.crt'));
});
