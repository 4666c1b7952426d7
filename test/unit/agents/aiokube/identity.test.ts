import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import t, { type Test } from 'tap';
import { aioHostIdentity } from '../../../../agents/aiokube/host-identity.ts';
import { aioKubeletIdentity } from '../../../../agents/aiokube/kubelet-identity.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { type HostOptions, testHost } from '../host/host.ts';
import { giveAddresses } from '../host/network.ts';
import { giveRendered } from '../host/rendered.ts';

const ENV = '/etc/sno-agents/kubelet.env';

t.test('host-identity', async (t) => {
  const host = async (t: Test, options: HostOptions = {}) => {
    const it = testHost(t, options);
    await giveRendered(it);
    giveAddresses(it, '192.0.2.10/24', '198.51.100.7/24');
    return it;
  };

  t.test('keeps name and addresses, as they were rendered', async (t) => {
    const it = await host(t);
    t.equal(await it.holds(aioHostIdentity), false, 'before');
    t.same(await it.run(aioHostIdentity), { kind: 'done', note: 'edge-0, 192.0.2.10' });
    t.equal(it.read('/etc/hostname'), 'edge-0\n');
    t.equal(it.read(ENV), 'KUBELET_NODE_IPS=192.0.2.10\n');
    t.equal(await it.holds(aioHostIdentity), true, 'after');
    it.write(ENV, 'KUBELET_NODE_IPS=192.0.2.11\n');
    t.equal(await it.holds(aioHostIdentity), false, 'another address in the file');
    await it.run(aioHostIdentity);
    const renamed = { ...it.context, hostname: () => 'edge-1' };
    t.equal(await aioHostIdentity.holds(renamed, it.progress()), false, 'another name');
    t.equal(await it.holds(aioHostIdentity), true);
    giveAddresses(it, '192.0.2.77/24');
    t.equal(await it.holds(aioHostIdentity), false, 'an address that was lost');
    t.same(await aioHostIdentity.input(it.context), {
      hostname: 'edge-0',
      nodeIps: ['192.0.2.10'],
    });
  });

  t.test('another name, such as localhost', async (t) => {
    const it = await host(t, { hostname: 'localhost' });
    t.match(await it.failureOf(aioHostIdentity), {
      kind: 'retry',
      code: 'identity-changed',
      message: /the host's name has changed.*expected edge-0.*found localhost/,
    });
    t.notOk(it.has('/etc/hostname'));
    t.notOk(it.has(ENV));
  });

  for (const [addresses, found] of [
    [['192.0.2.77/24'], '192\\.0\\.2\\.77'],
    [[], 'no address'],
  ] as const) {
    t.test(`another address: ${found}`, async (t) => {
      const it = await host(t);
      giveAddresses(it, ...addresses);
      t.match(await it.failureOf(aioHostIdentity), {
        kind: 'retry',
        code: 'identity-changed',
        message: new RegExp(`IPv4 address has changed.*expected 192\\.0\\.2\\.10.*found ${found}`),
      });
      t.notOk(it.has(ENV));
    });
  }
});

t.test('kubelet-identity', async (t) => {
  const PKI = '/var/lib/kubelet/pki';
  const CURRENT = `${PKI}/kubelet-client-current.pem`;
  const authority = await createAuthority('kubelet-client-ca');
  const host = (t: Test, options: HostOptions = {}) => {
    const it = testHost(t, options);
    const { certificate, key } = accessTo('kubernetes').kubeletClientAuthority;
    it.write(certificate, authority.certificate);
    it.write(key, authority.key, 0o600);
    return it;
  };

  t.test('is a dated file behind a link, signed here', async (t) => {
    const it = host(t);
    t.equal(await it.holds(aioKubeletIdentity), false, 'before');
    t.match(await it.run(aioKubeletIdentity), { kind: 'done' });
    const target = readlinkSync(it.at(CURRENT));
    t.match(target, /^kubelet-client-\d{4}(-\d\d){5}\.pem$/, 'relative, as the kubelet links it');
    t.equal(it.mode(`${PKI}/${target}`), 0o600);
    const pem = it.read(CURRENT);
    const { subject, clientAuth, serverAuth } = inspectCertificate(pem);
    t.same(subject, { commonName: 'system:node:edge-0', organizations: ['system:nodes'] });
    t.same([clientAuth, serverAuth], [true, false]);
    t.ok(await isIssuedBy(pem, authority.certificate));
    t.match(pem, 'PRIVATE KEY');
    t.equal(await it.holds(aioKubeletIdentity), true, 'after');
    await it.run(aioKubeletIdentity);
    const names = readdirSync(it.at(PKI));
    t.same(
      names.filter((name) => name.startsWith('.')),
      [],
      'nothing is left beside it',
    );
  });

  t.test("the kubelet's own renewed certificate holds", async (t) => {
    const it = host(t);
    await it.run(aioKubeletIdentity);
    const subject = { commonName: 'system:node:edge-0', organizations: ['system:nodes'] };
    const { certificate, key } = await issueLeaf(authority, { subject, usage: 'client' });
    it.write(`${PKI}/kubelet-client-2031-01-01-00-00-00.pem`, `${certificate}${key}`, 0o600);
    unlinkSync(it.at(CURRENT));
    symlinkSync('kubelet-client-2031-01-01-00-00-00.pem', it.at(CURRENT));
    t.equal(await it.holds(aioKubeletIdentity), true);
  });

  t.test('those that were never linked, after a kill, are deleted', async (t) => {
    const it = host(t);
    it.write(`${PKI}/kubelet-client-2026-01-31-23-59-59.pem`, 'a valid key', 0o600);
    it.write(`${PKI}/.kubelet-client-2026-01-30-23-59-59.pem.0a1b2c3d.new`, 'another', 0o600);
    it.write(`${PKI}/kubelet-server-2026-01-31-23-59-59.pem`, "the kubelet's own");
    await it.run(aioKubeletIdentity);
    t.same(readdirSync(it.at(PKI)).toSorted(), [
      readlinkSync(it.at(CURRENT)),
      'kubelet-client-current.pem',
      'kubelet-server-2026-01-31-23-59-59.pem',
    ]);
    t.equal(await it.holds(aioKubeletIdentity), true);
  });

  t.test('that of another node does not', async (t) => {
    const it = host(t);
    await it.run(aioKubeletIdentity);
    const renamed = { ...it.context, hostname: () => 'edge-1' };
    t.equal(await aioKubeletIdentity.holds(renamed, it.progress()), false);
  });

  t.test('a link whose file was deleted is replaced', async (t) => {
    const it = host(t);
    it.write(`${PKI}/other`);
    symlinkSync('nowhere.pem', it.at(CURRENT));
    t.equal(await it.holds(aioKubeletIdentity), false);
    await it.run(aioKubeletIdentity);
    t.equal(await it.holds(aioKubeletIdentity), true);
  });
});
