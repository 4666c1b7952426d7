import { ServerCredentials } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { connectEtcd, type EtcdTls } from '../../../../lib/clients/etcd/client.ts';
import { listen, statusAt } from './serve-etcd.ts';

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });
const [authority, another] = await Promise.all([
  createAuthority('etcd-ca'),
  createAuthority('another-ca'),
]);
const subject = { commonName: 'etcd' };
const own = await issueLeaf(authority, { subject, usage: 'client' });
const foreign = await issueLeaf(another, { subject, usage: 'client' });
const trusted: EtcdTls = { ca: authority.certificate, cert: own.certificate, key: own.key };

/** A member with a certificate for these addresses or names that requires client certificates. */
async function member(t: Test, names: { ipAddresses?: string[]; dnsNames?: string[] }) {
  const { certificate, key } = await issueLeaf(authority, { subject, usage: 'server', ...names });
  const pair = { cert_chain: Buffer.from(certificate), private_key: Buffer.from(key) };
  const ca = Buffer.from(authority.certificate);
  const as = ServerCredentials.createSsl(ca, [pair], true);
  const port = await listen(t, { Status: () => statusAt(12) }, {}, as);
  return (host: string, tls = trusted) => {
    const client = connectEtcd(`https://${host}:${port}`, tls);
    t.teardown(() => client[Symbol.dispose]());
    return client.revision(limits());
  };
}

t.test('a member is trusted at the address or name in its certificate', async (t) => {
  const byAddress = await member(t, { ipAddresses: ['127.0.0.1'] });
  t.equal(await byAddress('127.0.0.1'), 12);
  const byName = await member(t, { dnsNames: ['localhost'] });
  t.equal(await byName('localhost'), 12);
  await t.rejects(byName('127.0.0.1'), 'a certificate for a name is not one for an address');
  const elsewhere = await member(t, { ipAddresses: ['192.0.2.10'] });
  await t.rejects(elsewhere('127.0.0.1'), 'the certificate of another address');
});

t.test('both sides need a certificate of the authority', async (t) => {
  const ask = await member(t, { ipAddresses: ['127.0.0.1'] });
  await t.rejects(ask('127.0.0.1', { ...trusted, ca: another.certificate }));
  await t.rejects(ask('127.0.0.1', { ...trusted, cert: foreign.certificate, key: foreign.key }));
});
