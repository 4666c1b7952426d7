/** Every file that follows from another authority. */
import t from 'tap';
import {
  leafChanges,
  signerChanges,
  trustChanges,
} from '../../../../agents/steps/certificates/authority-files.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { createSuccessor } from '../../../../lib/pki/authority.ts';
import { certificatesIn, isIssuedBy, parseCertificate } from '../../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { kubeletPaths } from '../../../../lib/render/kubernetes/kubelet.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { trustFiles } from '../../../../lib/render/kubernetes/trust.ts';
import { byPath, textAt } from '../../render/rendered-host.ts';

const now = new Date();
const read = async (path: string) => byPath.get(path)?.contents;

t.test('the identity of the kubelet has its certificate and key in one file, 0600', async (t) => {
  const old = await createAuthority('kubelet-client-ca');
  const next = await createSuccessor(old, now);
  const subject = { commonName: 'system:node:edge-0', organizations: ['system:nodes'] };
  const present = await issueLeaf(old, { subject, usage: 'client' });
  const pair = `${present.certificate}${present.key}`;
  const withPair = async (path: string) => (path === kubeletPaths.clientPair ? pair : undefined);
  const { changes } = await leafChanges(
    new Map([['kubelet-client', { old, next }]]),
    withPair,
    now,
  );
  const [change, ...others] = changes;
  t.same(others, []);
  t.match(change, { path: kubeletPaths.clientPair, mode: 0o600 });
  const [certificate = '', key = ''] = change?.contents.split(/(?=-----BEGIN PRIVATE KEY)/) ?? [];
  t.ok(await isIssuedBy(certificate, next.certificate));
  t.equal(publicKeyFingerprint(key), publicKeyFingerprint(certificate));
  t.not(publicKeyFingerprint(key), publicKeyFingerprint(present.key), 'a new key');
});

t.test(
  'of what is presented behind it, only that stays which may have another CA below',
  async (t) => {
    const first = await createAuthority('serving-ca');
    const old = await createSuccessor(first, now);
    const next = await createSuccessor(old, now);
    const [name = ''] = parseCertificate(old.certificate).subjectName.getField('CN');
    // Of the same name: may have another one below it, and may not, as that by the first one.
    const open = (await createAuthority(name)).certificate;
    const stranger = (await createAuthority('another')).certificate;
    const profile = { subject: { commonName: 'kube-apiserver' }, usage: 'server' } as const;
    const { certificate } = await issueLeaf(old, profile);
    const { apiServerServing: leaf } = issuedLeaves;
    const texts = new Map([
      [leaf.certificate, [certificate, old.cross, stranger, open].join('')],
      [leaf.key, 'the old key'],
    ]);
    const replaced = new Map([['serving' as const, { old, next }]]);
    const { changes, retired } = await leafChanges(replaced, async (path) => texts.get(path), now);
    const fresh = changes.find(({ path }) => path === leaf.certificate)?.contents ?? '';
    t.same(certificatesIn(fresh).slice(1), certificatesIn(`${next.cross}${open}`));
    t.same(retired, [], 'a server is not refused');
  },
);

t.test(
  'who is trusted in the place of an authority; the others stay, and the laptop',
  async (t) => {
    const { certificate, key } = authorityPaths('admin');
    const old = { certificate: textAt(certificate), key: textAt(key) };
    const next = await createSuccessor(old, now);
    const replaced = new Map([['admin' as const, { old, next }]]);
    const laptop = 'the laptop\n';
    const changes = await trustChanges(replaced, read, (pair) => [pair.old, pair.next], laptop);
    const concerned = trustFiles.filter(
      ({ path, authorities }) => authorities.includes('admin') && byPath.has(path),
    );
    t.same(
      changes,
      concerned.map(({ path, authorities, trustsLaptop }) => ({
        path,
        contents: [
          ...authorities.map((name) =>
            name === 'admin'
              ? old.certificate + next.certificate
              : textAt(authorityPaths(name).certificate),
          ),
          ...(trustsLaptop ? [laptop] : []),
        ].join(''),
        mode: 0o644,
      })),
    );
    t.ok(changes.length > 0);
    t.same(signerChanges(replaced), [
      { path: key, contents: next.key, mode: 0o600 },
      { path: certificate, contents: next.certificate, mode: 0o644 },
    ]);
  },
);
