import { X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { listCertificates } from '../../../../agents/steps/certificates/list.ts';
import { runCertificates } from '../../../../agents/upkeep/certificates/main.ts';
import { addRotations } from '../../../../agents/upkeep/rotate/commands.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../../lib/pki/keys.ts';
import { x509 } from '../../../../lib/pki/x509.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { issuedLeaves } from '../../../../lib/render/kubernetes/leaves.ts';
import { requestPem, type Variation } from '../../cluster/csr/requests.ts';
import { setEnvironment } from '../../engine/steps/environment.ts';
import { rendered, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const DAY_MS = 86_400_000;
const CSR = '/var/tmp/jo.csr';

/** An installed host, and what a command of sno-certificates prints and records in the journal. */
function installed(t: Test) {
  const host = testHost(t);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  const run = async (args: readonly string[], isJournal = true) => {
    const printed: string[] = [];
    const recorded: string[] = [];
    const code = await runCertificates(host.paths, args, addRotations, {
      write: (text) => void printed.push(text),
      isJournal: false,
      journald: {
        async send(entry) {
          recorded.push(entry);
          return isJournal;
        },
      },
    });
    return { code, printed: printed.join(''), recorded, errors: errors.join('') };
  };
  const ask = async (variation: Variation, ...more: string[]) => {
    host.write(CSR, await requestPem({ names: [], ...variation }));
    return run(['kubeconfig', '--csr', host.at(CSR), ...more]);
  };
  return { host, run, ask };
}

t.test('sno-certificates list', async (t) => {
  const { host, run } = installed(t);
  const { certificate } = issuedLeaves.etcdServer;
  const { code, printed } = await run(['list', '--json']);
  t.equal(code, 0);
  const { schemaVersion, items, at, ...others } = JSON.parse(printed);
  t.equal(schemaVersion, 1);
  t.ok(Math.abs(Date.parse(at) - Date.now()) < 600_000, at);
  t.same(others, { hostname: hostname() });
  t.match(
    items.find(({ path }: { path: string }) => path === certificate),
    {
      name: 'etcd-server',
      kind: 'leaf',
      signer: 'etcd',
      state: 'valid',
      renewedBy: 'sno-renew',
      takeUp: 'itself',
      usedBy: ['etcd'],
      serial: inspectCertificate(textAt(certificate)).serialNumber,
    },
  );
  t.notOk(
    items.some(({ path }: { path: string }) => !host.has(path)),
    'files that this host does not have are not listed',
  );
  t.notMatch(printed, /PRIVATE|BEGIN/);
  const table = await run(['list']);
  t.match(table.printed, /^NAME [\s\S]*\netcd-server +leaf +valid/);
  t.equal(table.printed.trimEnd().split('\n').length, items.length + 1);
  host.remove(certificate);
  host.write(`${certificate}/a-folder`);
  await t.rejects(listCertificates(host.paths), { code: 'EISDIR' }, 'not read is not missing');
});

t.test('a certificate that ends with its CA is not listed as due every day', async (t) => {
  const { host } = installed(t);
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
  const ending = await createAuthority('etcd-ca', 400);
  const profile = { subject: { commonName: 'etcd' }, usage: 'server' } as const;
  const { name, certificate } = issuedLeaves.etcdServer;
  host.write(certificate, (await issueLeaf(ending, profile, inDays(100))).certificate);
  for (const [authority, state] of [
    [ending.certificate, 'limited'],
    [(await createAuthority('etcd-ca', 3650)).certificate, 'due'],
  ] as const) {
    host.write(authorityPaths('etcd').certificate, authority);
    const { items } = await listCertificates(host.paths, inDays(300));
    t.match(
      items.find((each) => each.name === name),
      { state },
    );
  }
});

const jo: Variation = { subject: [{ CN: ['jo@example.test'] }] };

t.test('sno-certificates kubeconfig', async (t) => {
  const lifetimes: [args: string[], days: number][] = [
    [[], 30],
    [['--days', '1'], 1],
    [['--days', '365'], 365],
  ];
  for (const [args, days] of lifetimes) {
    t.test(`issues a certificate of ${days} days for the key of the request`, async (t) => {
      setEnvironment(t, { SUDO_USER: 'operator' });
      const { host, ask } = installed(t);
      const { code, printed, recorded } = await ask({ ...jo, key: 'P-384' }, ...args);
      t.equal(code, 0);
      const { users, clusters } = parse(printed);
      const [{ user }] = users;
      t.equal(user['client-key'], 'jo.key', 'beside the kubeconfig');
      t.same(Object.keys(user).toSorted(), ['client-certificate-data', 'client-key']);
      t.notMatch(printed, /PRIVATE/);
      const pem = Buffer.from(user['client-certificate-data'], 'base64').toString();
      const facts = inspectCertificate(pem);
      t.match(facts, {
        subject: { commonName: 'jo@example.test', organizations: ['system:masters'] },
        clientAuth: true,
        serverAuth: false,
        isAuthority: false,
      });
      const request = new x509.Pkcs10CertificateRequest(host.read(CSR));
      t.equal(publicKeyFingerprint(pem), publicKeyFingerprint(request.publicKey.toString('pem')));
      t.ok(await isIssuedBy(pem, textAt(authorityPaths('admin').certificate)));
      t.ok(Math.abs(facts.notAfter.getTime() - Date.now() - days * DAY_MS) < DAY_MS / 24);
      t.match(clusters[0].cluster.server, /^https:\/\/api\..*:6443$/);
      const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64');
      t.equal(ca.toString(), textAt(authorityPaths('serving').certificate));
      t.equal(recorded.length, 1);
      t.match(recorded[0], /EVENT=administrator-issued/);
      t.match(recorded[0], /jo@example\.test, valid until 20.*, requested by operator/);
      t.ok(recorded[0]?.includes(new X509Certificate(pem).serialNumber.toLowerCase()));
    });
  }

  t.test('issues nothing with a clock with which its CA is not valid', async (t) => {
    const { ask } = installed(t);
    mock.timers.enable({ apis: ['Date'], now: 0 });
    t.teardown(() => mock.timers.reset());
    const { code, printed, errors } = await ask(jo);
    t.not(code, 0);
    t.equal(printed, '');
    t.match(errors, /is not valid yet.*Check the host's clock/);
  });

  t.test('issued with a fast clock, it is valid once the clock is right', async (t) => {
    const { ask } = installed(t);
    const right = new Date();
    mock.timers.enable({ apis: ['Date'], now: right.getTime() + 400 * DAY_MS });
    t.teardown(() => mock.timers.reset());
    const { printed } = await ask(jo);
    const [{ user }] = parse(printed).users;
    const pem = Buffer.from(user['client-certificate-data'], 'base64').toString();
    t.ok(inspectCertificate(pem).notBefore < right);
  });

  const refused: [title: string, request: Variation, says: RegExp][] = [
    ['the name of a component', { subject: [{ CN: ['system:kube-scheduler'] }] }, /common name/],
    ['the name of an agent', { subject: [{ CN: ['sno-agents:gather'] }] }, /common name/],
    ['no name', { subject: [{ O: ['system:masters'] }] }, /found none/],
    ['two names', { subject: [{ CN: ['a'] }, { CN: ['b'] }] }, /found a, b/],
    ['a weak key', { ...jo, key: 'RSA-1024' }, /RSA 1024/],
    [
      'text before it',
      { ...jo, pem: (right) => `x\n${right}` },
      /not one PEM block of a certificate request/,
    ],
    ['a wrong signature', { ...jo, pem: otherSignature }, /signature/],
  ];
  for (const [title, request, says] of refused) {
    t.test(`refuses a request with ${title}`, async (t) => {
      const { code, printed, recorded, errors } = await installed(t).ask(request);
      t.equal(code, 2);
      t.equal(printed, '');
      t.same(recorded, []);
      t.match(errors, says);
      t.match(errors, /jo\.csr/);
    });
  }

  t.test('refuses other lifetimes, and a file that does not exist', async (t) => {
    const { host, ask, run } = installed(t);
    for (const days of ['0', '366', '1.5', 'many']) {
      t.match(await ask(jo, '--days', days), { code: 2, printed: '', recorded: [] }, days);
    }
    t.match(await run(['kubeconfig', '--csr', host.at('/none.csr')]), {
      code: 2,
      errors: /none\.csr.*ENOENT/,
    });
    t.match(await run(['kubeconfig']), { code: 2 });
  });

  t.test('issues nothing that the journal does not record', async (t) => {
    const { host, run } = installed(t);
    host.write(CSR, await requestPem({ ...jo, names: [] }));
    const { code, printed, errors } = await run(['kubeconfig', '--csr', host.at(CSR)], false);
    t.equal(code, 1);
    t.equal(printed, '');
    t.match(errors, /journal cannot record it/);
  });
});

/** The request with the signature of another one. */
async function otherSignature(right: string): Promise<string> {
  const bytes = Buffer.from(right.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const text = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----\n`;
}
