/** What anybody may send costs little to judge, whatever is in it. */
import t from 'tap';
import { costlyRequests } from '../../../../bench/csr/costly-requests.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { judgeAdministratorRequest } from '../../../../lib/cluster/csr/administrator-request.ts';
import { judge } from '../../../../lib/cluster/csr/judge.ts';
import { isOfAllowedWorker } from '../../../../lib/cluster/csr/judge-worker.ts';
import { readRequestedCertificate } from '../../../../lib/cluster/csr/requested-certificate.ts';
import { nodeView } from '../../../../lib/cluster/csr/views.ts';
import { credentialsIn } from '../../../../lib/relocation/site-volume/credentials.ts';
import { craftedPem, dnsName, namesOf, O, printable, rdn, subjectPart } from './crafted-request.ts';
import { host, node, now, signingRequest } from './requests.ts';
import { CLIENT, first, serving, TOKEN, viewOf } from './worker-requests.ts';

const view = { host, node };

for (const { title, pem, rule } of costlyRequests(host.nodeName)) {
  t.test(title, async (t) => {
    const csr = await signingRequest({ pem: () => pem });
    const judgement = judge(csr, view, now);
    t.match(judgement, { verdict: 'leave', rule });
    t.ok(JSON.stringify(judgement).length < 700, 'the explanation is short');
    const judged = judgeAdministratorRequest(pem);
    t.match(judged, { found: /./ });
    t.ok(JSON.stringify(judged).length < 1200);
    const files = new Map([['credentials/admin.csr', Buffer.from(pem)]]);
    t.throws(() => credentialsIn(files, new Date()), {
      constructor: Failure,
      code: 'site-volume-refused',
    });
  });
}

t.test('what is read has bounds, which leave room for honest requests', async (t) => {
  const read = (parts: Parameters<typeof craftedPem>[2]) =>
    readRequestedCertificate(craftedPem('a', '192.0.2.1', parts));
  const names = (count: number) =>
    namesOf(...Array.from({ length: count }, (_, at) => dnsName(`n${at}`)));
  t.equal(read({ names: names(64) }).nameTexts.length, 64);
  t.strictSame(read({ names: names(65) }).nameTexts, ['unreadable']);
  const oid = (bytes: number) => `1.2.3${'.1'.repeat(bytes - 2)}`;
  const subject = (type: string) => ({ subject: rdn(rdn(subjectPart(type, printable('x')))) });
  t.same(read(subject(oid(64))).subjectParts, [[oid(64), 'x']]);
  t.throws(() => read(subject(oid(65))), /object identifier has more than 64 bytes/);
  const pem = craftedPem('a', '192.0.2.1', { subject: rdn(rdn(subjectPart(O, printable('x')))) });
  const padded = (bytes: number) => pem + '\n'.repeat(bytes - pem.length);
  t.equal(readRequestedCertificate(padded(16_384)).isAlone, true);
  t.throws(() => readRequestedCertificate(padded(16_385)), /it has 16385 bytes, and at most 16384/);
});

t.test('an explanation is cut', async (t) => {
  const long = (length: number) =>
    craftedPem(host.nodeName, '192.0.2.10', {
      subject: rdn(rdn(subjectPart(O, printable('x'.repeat(length))))),
    });
  const explained = async (length: number) => {
    const judgement = judge(await signingRequest({ pem: () => long(length) }), view, now);
    return 'explanation' in judgement ? judgement.explanation : '';
  };
  t.match(await explained(100), /x{100}$/);
  t.match(await explained(10_000), /x \.\.\.$/);
  t.equal((await explained(10_000)).length, 504);
  const name = 'j'.repeat(9000);
  t.ok(
    JSON.stringify(
      judgeAdministratorRequest(
        craftedPem('x', '192.0.2.1', {
          subject: rdn(rdn(subjectPart('2.5.4.3', printable(name)))),
        }),
      ),
    ).length < 1200,
  );
});

t.test("a stranger's request is not parsed, nor before the rules about its object", async (t) => {
  const parsed: string[] = [];
  const { allowed } = viewOf({ title: '' });
  const asked = async (title: string, request: Parameters<typeof signingRequest>[0]) => {
    const csr = await signingRequest(request);
    const certificate = () => {
      parsed.push(title);
      return csr.certificate();
    };
    isOfAllowedWorker({ ...csr, certificate }, { allowed });
  };
  await asked('a user', { spec: { signerName: CLIENT, username: 'somebody' } });
  await asked('a node', serving());
  await asked('another signer', { spec: { username: TOKEN } });
  t.same(parsed, []);
  await asked('a worker', first());
  t.same(parsed, ['a worker']);
});

t.test('the signature is not verified with a key that is refused', async (t) => {
  const csr = await signingRequest({ key: 'RSA-1024' });
  const certificate = csr.certificate();
  if ('unreadable' in certificate) throw new Error(certificate.unreadable);
  let verified = 0;
  const signature = () => {
    verified += 1;
    return certificate.signature();
  };
  t.match(judge({ ...csr, certificate: () => ({ ...certificate, signature }) }, view, now), {
    rule: 'key',
  });
  t.equal(verified, 0);
});

t.test('of the addresses that a node gives itself, some are read', async (t) => {
  const addresses = Array.from({ length: 10_000 }, (_, at) => ({
    type: 'InternalIP',
    address: `10.0.${at >> 8}.${at & 255}`,
  }));
  t.equal(nodeView({ metadata: { name: 'w' }, status: { addresses } }).internalIps.length, 256);
});
