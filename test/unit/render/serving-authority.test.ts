/** The API server's authority is the host's own: the key on the medium only certifies it, for the laptop. */
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { leafChanges } from '../../../agents/steps/certificates/authority-files.ts';
import { issueLeaf } from '../../../lab/certificates/signed-now.ts';
import { createSuccessor, type KeyPair } from '../../../lib/pki/authority.ts';
import { certificatesIn, inspectCertificate } from '../../../lib/pki/certificate.ts';
import { renewLeaf } from '../../../lib/pki/leaf.ts';
import { authorityPaths, createAuthorities } from '../../../lib/render/kubernetes/authorities.ts';
import { issuedLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../../lib/render/kubernetes/trust.ts';
import { earlierAuthority } from '../agents/upkeep/earlier-authority.ts';
import { authorities, byPath, rendered, textAt } from './rendered-host.ts';

const medium = authorities.servingCa;
const own = textAt(authorityPaths('serving').certificate);
const { certificate, key } = issuedLeaves.apiServerServing;
const server: KeyPair = { certificate: textAt(certificate), key: textAt(key) };

/** Whether a client that trusts only that authority accepts that server; the reason if not. */
async function verdict(t: Test, { certificate: cert, key }: KeyPair, ca: string): Promise<string> {
  const listener = createServer({ cert, key }).listen(0, '127.0.0.1');
  t.teardown(() => listener.close());
  await once(listener, 'listening');
  const { port } = z.object({ port: z.number() }).parse(listener.address());
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  socket.on('secureConnect', () => socket.emit('verdict', 'accepted'));
  socket.on('error', (error) => socket.emit('verdict', error.message));
  const [found] = await once(socket, 'verdict');
  socket.destroy();
  return z.string().parse(found);
}

t.test('the first kubeconfig verifies the server, and so does the exchanged one', async (t) => {
  t.equal(await verdict(t, server, medium.certificate), 'accepted', 'before');
  t.equal(await verdict(t, server, medium.certificate + own), 'accepted', 'meanwhile');
  t.equal(await verdict(t, server, own), 'accepted', 'after');
});

t.test('a renewed certificate of the server is verified alike', async (t) => {
  const issuer = { certificate: own, key: textAt(authorityPaths('serving').key) };
  const renewed = {
    ...server,
    certificate: await renewLeaf(server.certificate, issuer, new Date()),
  };
  t.equal(await verdict(t, renewed, medium.certificate), 'accepted');
  t.equal(await verdict(t, renewed, own), 'accepted');
});

t.test('a rotation before the exchange: each kubeconfig still verifies the server', async (t) => {
  const old = { certificate: own, key: textAt(authorityPaths('serving').key) };
  const next = await createSuccessor(old, new Date());
  const read = async (path: string) => byPath.get(path)?.contents;
  const { changes } = await leafChanges(new Map([['serving', { old, next }]]), read, new Date());
  const textOf = (path: string) => changes.find((change) => change.path === path)?.contents ?? '';
  const rotated = { certificate: textOf(certificate), key: textOf(key) };
  for (const [what, ca] of [
    ['the first', medium.certificate],
    ['the exchanged', own],
    ['a later', next.certificate],
  ] as const) {
    t.equal(await verdict(t, rotated, ca), 'accepted', what);
  }
});

t.test('whoever has the key of the medium is no API server for the host', async (t) => {
  const impostor = await issueLeaf(medium, {
    subject: { commonName: 'kube-apiserver' },
    usage: 'server',
    dnsNames: ['localhost'],
  });
  t.equal(await verdict(t, impostor, medium.certificate), 'accepted', 'for the first kubeconfig');
  t.not(await verdict(t, impostor, own), 'accepted', 'not for the exchanged one');
  const files = trustFiles.filter(({ authorities }) => authorities.includes('serving'));
  t.not(files.length, 0);
  for (const { path } of files.filter(({ path }) => byPath.has(path))) {
    t.not(await verdict(t, impostor, textAt(path)), 'accepted', path);
  }
  for (const { path, contents } of rendered.files) {
    t.notOk(contents.includes(medium.key), `${path} has not its key`);
    t.notOk(contents.includes(medium.certificate), `${path} does not trust it`);
  }
});

t.test('one of an earlier release, which cannot certify another, is used itself', async (t) => {
  const given = await earlierAuthority();
  const { serving } = await createAuthorities(given);
  t.same(serving, given);
});

t.test('what certifies it is presented by the server only', (t) => {
  t.equal(certificatesIn(server.certificate).length, 2);
  for (const leaf of Object.values(issuedLeaves)) {
    if (leaf.name === 'kube-apiserver-serving' || !byPath.has(leaf.certificate)) continue;
    t.equal(certificatesIn(textAt(leaf.certificate)).length, 1, leaf.name);
  }
  const [, cross = ''] = certificatesIn(server.certificate);
  t.match(inspectCertificate(cross).issuer, { commonName: 'kube-apiserver-serving-ca' });
  t.end();
});
