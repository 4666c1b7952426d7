import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lstatSync, symlinkSync } from 'node:fs';
import { mock } from 'node:test';
import t from 'tap';
import { readSigner } from '../../../../agents/steps/leaf-files.ts';
import { signExpired } from '../../../../agents/steps/sign-expired.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { leafCatalogue } from '../../../../lib/render/kubernetes/leaves.ts';
import { testHost } from '../host/host.ts';
import { seal } from '../host/sealed.ts';

const SERVER = '/etc/kubernetes/pki/etcd/server';
const CLIENT = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const DATED = '/var/lib/kubelet/pki/kubelet-client-2026-01-31-00-00-00.pem';
const day = 24 * 3_600_000;

const etcd = await createAuthority('etcd-ca');
const kubelet = await createAuthority('kubelet-client-ca');
const issue = (authority: typeof etcd, commonName: string, daysLeft: number) =>
  issueLeaf(
    authority,
    { subject: { commonName }, usage: 'client', lifetimeDays: 365 },
    new Date(Date.now() - (365 - daysLeft) * day),
  );
const soon = {
  server: await issue(etcd, 'etcd-server', -3),
  node: await issue(kubelet, 'system:node:edge-0', 30),
};
const later = {
  server: await issue(etcd, 'etcd-server', 300),
  node: await issue(kubelet, 'system:node:edge-0', 200),
};

/** A host with one certificate beside its key, and the kubelet's pair behind its link. */
function host(t: Parameters<typeof testHost>[0], { server, node }: typeof soon) {
  const it = testHost(t);
  for (const [name, authority] of [
    ['etcd', etcd],
    ['kubelet-client', kubelet],
  ] as const) {
    it.write(authorityPaths(name).certificate, authority.certificate);
    it.write(authorityPaths(name).key, authority.key, 0o600);
  }
  it.write(`${SERVER}.crt`, server.certificate);
  it.write(`${SERVER}.key`, server.key, 0o600);
  it.write(DATED, `${node.certificate}${node.key}`, 0o600);
  symlinkSync(DATED.slice('/var/lib/kubelet/pki/'.length), it.at(CLIENT));
  return it;
}

t.test('sign-expired', async (t) => {
  t.ok(leafCatalogue.some(({ certificate }) => certificate === `${SERVER}.crt`));

  t.test('renews certificates that are due, with the same keys', async (t) => {
    const it = host(t, soon);
    const { afterBoot } = seal(it);
    t.equal(await it.holds(signExpired), false, 'before');
    t.same(await it.run(signExpired), { kind: 'done', note: '2 signed again' });
    t.equal(await it.holds(signExpired), true, 'after');
    const server = new X509Certificate(it.read(`${SERVER}.crt`));
    t.ok(server.validToDate > new Date(Date.now() + 300 * day));
    t.ok(server.checkPrivateKey(createPrivateKey(soon.server.key)));
    t.ok(server.verify(new X509Certificate(etcd.certificate).publicKey));
    t.equal(it.read(`${SERVER}.key`), soon.server.key, 'its key is not touched');
    t.equal(it.mode(`${SERVER}.crt`), 0o644);
    t.equal(afterBoot(`${SERVER}.crt`), it.read(`${SERVER}.crt`));
    const node = new X509Certificate(it.read(CLIENT));
    t.equal(it.read(CLIENT), `${node}${soon.node.key}`, 'the pair has its key still');
    t.ok(node.checkPrivateKey(createPrivateKey(soon.node.key)));
    t.ok(node.verify(new X509Certificate(kubelet.certificate).publicKey));
    t.equal(it.mode(DATED), 0o600, 'the key is for root alone');
    t.ok(lstatSync(it.at(CLIENT)).isSymbolicLink(), 'the link stays one');
    t.match(it.lines.join(''), /Signed etcd-server again/);
  });

  t.test(
    'skips certificates that are valid, and those that the clean-up has deleted',
    async (t) => {
      const it = host(t, later);
      const before = [it.read(`${SERVER}.crt`), it.read(CLIENT)];
      t.equal(await it.holds(signExpired), true);
      t.same(await it.run(signExpired), { kind: 'done', note: 'none was due' });
      t.same([it.read(`${SERVER}.crt`), it.read(CLIENT)], before);
    },
  );

  t.test('interrupted after the first, it renews the others', async (t) => {
    const it = host(t, { server: later.server, node: soon.node });
    t.equal(await it.holds(signExpired), false);
    t.match(await it.run(signExpired), { note: '1 signed again' });
    t.equal(it.read(`${SERVER}.crt`), later.server.certificate);
  });

  t.test('a file that cannot be read is not a missing one', async (t) => {
    const it = host(t, later);
    it.remove(`${SERVER}.crt`);
    it.write(`${SERVER}.crt/a-folder`);
    await t.rejects(it.run(signExpired), { code: 'EISDIR' });
  });

  t.test('in the last months of its authority, a leaf is as new as it can be', async (t) => {
    const then = new Date(Date.now() - 265 * day);
    const ending = await createAuthority('etcd-ca', 365, then);
    const server = await issueLeaf(
      ending,
      { subject: { commonName: 'etcd-server' }, usage: 'server' },
      then,
    );
    const it = host(t, { server, node: later.node });
    it.write(authorityPaths('etcd').certificate, ending.certificate);
    it.write(authorityPaths('etcd').key, ending.key, 0o600);
    t.equal(await it.holds(signExpired), true, 'or the kubelet would not start');
    t.same(await it.run(signExpired), { kind: 'done', note: 'none was due' });
  });

  t.test('an authority that has expired with its leaf does not keep others from it', async (t) => {
    const then = new Date(Date.now() - 400 * day);
    const ended = await createAuthority('etcd-ca', 365, then);
    const server = await issueLeaf(
      ended,
      { subject: { commonName: 'etcd-server' }, usage: 'server' },
      then,
    );
    const it = host(t, { server, node: soon.node });
    it.write(authorityPaths('etcd').certificate, ended.certificate);
    it.write(authorityPaths('etcd').key, ended.key, 0o600);
    t.match(await it.run(signExpired), { note: '1 signed again' });
    t.equal(it.read(`${SERVER}.crt`), server.certificate);
    t.match(it.lines.join(''), /CAs of etcd-server are not valid.*Check the host's clock/);
    t.equal(await it.holds(signExpired), true, 'or the kubelet would not start');
  });

  const wrong = { 'in 1970': 0, 'beyond every CA': Date.parse('2099-01-01T00:00:00Z') };
  for (const [when, now] of Object.entries(wrong)) {
    t.test(`with a clock ${when} it signs nothing, and the kubelet starts`, async (t) => {
      const it = host(t, soon);
      const before = [it.read(`${SERVER}.crt`), it.read(CLIENT)];
      mock.timers.enable({ apis: ['Date'], now });
      t.teardown(() => mock.timers.reset());
      t.same(await it.run(signExpired), { kind: 'done', note: 'none was due' });
      t.equal(await it.holds(signExpired), true);
      t.match(it.lines.join(''), /CAs of etcd-server, kubelet-client are not valid/);
      t.same([it.read(`${SERVER}.crt`), it.read(CLIENT)], before);
    });
  }

  t.test('signed with a clock years ahead, certificates are valid before and after', async (t) => {
    const it = host(t, later);
    const present = Date.now();
    mock.timers.enable({ apis: ['Date'], now: present + 4 * 365 * day });
    t.teardown(() => mock.timers.reset());
    t.match(await it.run(signExpired), { note: '2 signed again' });
    for (const path of [`${SERVER}.crt`, CLIENT]) {
      const { validFromDate, validToDate } = new X509Certificate(it.read(path));
      t.ok(validFromDate.getTime() < present, path);
      t.ok(validToDate.getTime() > present + 5 * 364 * day, path);
    }
  });

  t.test('a leaf of another authority is not renewed', async (t) => {
    const it = host(t, { server: await issue(kubelet, 'etcd-server', 1), node: later.node });
    const before = it.read(`${SERVER}.crt`);
    t.match(await it.failureOf(signExpired), { kind: 'fatal', message: /etcd-server/ });
    t.equal(it.read(`${SERVER}.crt`), before);
  });

  t.test('a CA that cannot sign keeps neither the kubelet nor the leaves of others', async (t) => {
    const { certificate, key } = authorityPaths('etcd');
    const another = await createAuthority('another');
    for (const [path, contents, found] of [
      [certificate, undefined, 'no such file'],
      [certificate, '', 'what is neither certificate nor key'],
      [key, undefined, 'no such file'],
      [key, etcd.key.slice(0, 100), 'what is neither certificate nor key'],
      [key, another.key, 'the key of another certificate'],
    ] as const) {
      const it = host(t, { server: soon.server, node: soon.node });
      it.remove(path);
      if (contents !== undefined) it.write(path, contents, 0o600);
      const before = it.read(`${SERVER}.crt`);
      t.same(await it.run(signExpired), { kind: 'done', note: '1 signed again' }, found);
      t.equal(it.read(`${SERVER}.crt`), before, 'as it was');
      t.equal(await it.holds(signExpired), true, 'nothing is left to sign');
      const said = it.lines.join('');
      t.match(said, /etcd-server was not signed again: the CA etcd of this host cannot sign/);
      t.match(said, `found ${found}`);
      t.match(said, path);
    }
  });

  t.test('what a sealed host has not opened is not put back from a backup', async (t) => {
    const it = host(t, { server: soon.server, node: soon.node });
    it.remove(authorityPaths('etcd').key);
    it.write('/var/lib/sno-agents/sealed/key.cred', 'sealed', 0o600);
    await it.run(signExpired).catch(() => {});
    const said = it.lines.join('');
    t.match(said, /sealed, and were not opened at this boot.*systemctl restart sno-unseal/);
    t.notMatch(said, /sno-backup/);
  });

  t.test('a CA that is replaced while it is read is read again', async (t) => {
    const it = host(t, { server: soon.server, node: soon.node });
    const { certificate, key } = authorityPaths('etcd');
    const other = await createAuthority('etcd');
    it.write(certificate, other.certificate);
    const { paths } = it;
    const swapped = {
      ...paths,
      at: (path: string) => {
        // After the first read of the key, the pair is whole again.
        if (path === key) queueMicrotask(() => it.write(certificate, etcd.certificate));
        return paths.at(path);
      },
    };
    t.same(await readSigner(swapped, 'etcd'), etcd);
  });

  t.test('a damaged leaf is named', async (t) => {
    for (const contents of ['', soon.server.certificate.slice(0, 200), '\0'.repeat(1000)]) {
      const it = host(t, soon);
      it.write(`${SERVER}.crt`, contents);
      t.match(await it.failureOf(signExpired), {
        kind: 'fatal',
        code: 'leaf-not-signed',
        message:
          /etcd-server could not be signed again; expected .* in \S+etcd\/server\.crt; found the/,
      });
    }
  });
});
