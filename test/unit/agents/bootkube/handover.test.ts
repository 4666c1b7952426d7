import { createPrivateKey, X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { combinedIgnition } from '../../../../agents/bootkube/handover/combined-ignition.ts';
import { masterIgnition } from '../../../../agents/bootkube/handover/master-ignition.ts';
import { kubeletIdentity, readIdentity } from '../../../../agents/steps/kubelet-identity.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import type { NodeIps } from '../../../../lib/base/network/node-ips.ts';
import { addressEvents } from '../../../../lib/change/identity/address-events.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { inspectCertificate } from '../../../../lib/pki/certificate.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { parseConfig } from '../../../../lib/render/ignition/config.ts';
import { saveRendered } from '../../../../lib/render/store.ts';
import { nodeUnits } from '../../../../units/installed.ts';
import { messageCatalog } from '../../../../units/message-catalog.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { cluster } from '../host/cluster.ts';
import { type HostOptions, testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { rendered } from '../host/rendered.ts';

const FOLDER = '/opt/openshift/kubelet-identity';
const ORIGINAL = '/opt/openshift/original-master.ign';
const MASTER = '/opt/openshift/master.ign';
const authority = await createAuthority('kubelet-client-ca');

function host(t: Test, options: HostOptions = {}) {
  const it = testHost(t, options);
  const { certificate, key } = accessTo('kubernetes').kubeletClientAuthority;
  it.write(certificate, authority.certificate);
  it.write(key, authority.key, 0o600);
  return it;
}

t.test('kubelet-identity', async (t) => {
  const it = host(t);
  t.equal(await it.holds(kubeletIdentity), false, 'before');
  t.same(await it.run(kubeletIdentity), { kind: 'done', note: 'system:node:edge-0' });
  t.equal(await it.holds(kubeletIdentity), true, 'after');
  const { name, contents } = (await readIdentity(it.context)) ?? { name: '', contents: '' };
  t.match(name, /^kubelet-client-\d{4}(-\d\d){5}\.pem$/, "as the kubelet's own are named");
  t.equal(it.mode(`${FOLDER}/${name}`), 0o600);
  const { subject, clientAuth, serverAuth } = inspectCertificate(contents);
  t.same(subject, { commonName: 'system:node:edge-0', organizations: ['system:nodes'] });
  t.same([clientAuth, serverAuth], [true, false]);
  const certificate = new X509Certificate(contents);
  t.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  t.ok(certificate.checkPrivateKey(createPrivateKey(contents)), 'with its key');

  t.test('is created once, however often the step runs', async (t) => {
    it.write(`${FOLDER}/kubelet-client-2020-01-01-00-00-00.pem`, 'of an attempt before');
    await it.run(kubeletIdentity);
    t.notOk(it.has(`${FOLDER}/kubelet-client-2020-01-01-00-00-00.pem`));
    t.equal(await it.holds(kubeletIdentity), true);
  });

  t.test('an unreadable identity is not a missing one', async (t) => {
    const other = host(t);
    other.write(`${FOLDER}/kubelet-client-2020-01-01-00-00-00.pem/a-folder`);
    await t.rejects(other.holds(kubeletIdentity), { code: 'EISDIR' });
  });

  t.test('an empty folder contains none', async (t) => {
    const other = host(t);
    other.write(`${FOLDER}/any`);
    other.remove(`${FOLDER}/any`);
    t.equal(await readIdentity(other.context), undefined);
  });

  t.test('for another host name it is created again', async (t) => {
    const renamed = { ...it.context, hostname: () => 'edge-1' };
    t.equal(await kubeletIdentity.holds(renamed, it.progress()), false);
  });
});

t.test('master-ignition', async (t) => {
  const rendering = async (t: Test, options: HostOptions = {}) => {
    const it = host(t, options);
    const nodeIps: NodeIps = ['192.0.2.10', '2001:db8::10'];
    await saveRendered(it.paths, 'input', { hostname: 'edge-0', nodeIps }, rendered);
    writePayload(it, '/run/media/iso/sno-agents/payload');
    it.write('/var/lib/kubelet/config.json', '{"auths":{}}', 0o600);
    return it;
  };

  t.test('is rendered if there is no machine config server', async (t) => {
    const it = await rendering(t, { cluster: { sshKeys: ['ssh-ed25519 AAAA me'] } });
    t.equal(await it.holds(masterIgnition), false, 'before');
    t.same(await it.run(masterIgnition), { kind: 'done', note: 'rendered' });
    t.equal(await it.holds(masterIgnition), true, 'after');
    t.equal(it.mode(ORIGINAL), 0o600, 'it holds the pull secret');
    const { storage, passwd, systemd } = parseConfig(it.read(ORIGINAL), ORIGINAL);
    const file = (path: string) => {
      const found = storage?.files?.find((each) => each.path === path);
      return found && { mode: found.mode, text: decodeDataUrl(found.contents ?? {}).toString() };
    };
    const digest = sha256(it.read('/run/media/iso/sno-agents/payload/payload.yaml'));
    const state = '/var/lib/sno-agents';
    const config = '/etc/sno-agents';
    t.same(file(`${config}/kubelet.env`), {
      mode: 0o644,
      text: 'KUBELET_NODE_IPS=192.0.2.10,2001:db8::10\n',
    });
    t.same(file(`${config}/executable.sha256`), {
      mode: 0o644,
      text: `${cluster.executableSha256}  ${state}/bin/sno-agents\n`,
    });
    t.same(file(`${config}/payload.sha256`), {
      mode: 0o644,
      text: `${digest}  ${state}/payload/payload.yaml\n`,
    });
    t.same(file('/var/lib/kubelet/config.json'), { mode: 0o600, text: '{"auths":{}}' });
    t.same(file(addressEvents.path), { mode: 0o755, text: addressEvents.contents });
    t.match(file(messageCatalog.path), { mode: 0o644, text: messageCatalog.contents });
    t.same(passwd?.users, [
      { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'], groups: ['sudo'] },
    ]);
    // Only root may read their contents.
    const closed = (storage?.directories ?? []).filter(({ mode }) => mode === 0o700);
    t.same(
      closed.map(({ path }) => path),
      [config, '/var/lib/kubelet'],
    );
    const agents = [
      ...['gather', 'reconfigure', 'sno-address', 'sno-approve'],
      ...['sno-backup', 'sno-backup-push', 'sno-backup-restore'],
      ...['sno-certificates', 'sno-identity', 'sno-payload', 'sno-renew', 'sno-rotate'],
      ...['sno-certificates', 'sno-payload', 'sno-renew', 'sno-rotate'],
      ...['sno-report', 'sno-trial', 'sno-update'],
    ];
    const commands = [
      ...['sno-agents', 'verify-clean', 'wait-steady'],
      ...agents,
      'installer-gather.sh',
      'installer-masters-gather.sh',
    ];
    commands.push('installer-master-bootstrap-in-place-gather.sh');
    t.same(
      Object.fromEntries((storage?.links ?? []).map(({ path, target }) => [path, target])),
      Object.fromEntries([
        ['/etc/issue.d/30-sno-agents.issue', '/run/sno-agents/console.issue'],
        ...commands.map((name) => [`/usr/local/bin/${name}`, `${state}/bin/sno-agents`]),
        ...agents.map((name) => [`${state}/bin/${name}`, 'sno-agents']),
      ]),
    );
    t.same(
      // Those of the operating system have drop-ins only.
      systemd?.units
        ?.filter(({ contents }) => contents !== undefined)
        .map(({ name, enabled }) => [name, enabled]),
      nodeUnits.map(({ name, enabled }) => [name, enabled]).toSorted(),
    );
    t.same(
      systemd?.units?.filter(({ enabled }) => enabled).map(({ name }) => name),
      [
        ...['kubelet.service', 'reconfigure.service'],
        ...['sno-address.service', 'sno-address.socket'],
        ...['sno-approve.path', 'sno-approve.service'],
        ...['sno-backup-push.timer', 'sno-backup-restore.service', 'sno-backup.timer'],
        ...['sno-certificates.service', 'sno-identity.service', 'sno-label.service'],
        ...['sno-payload.service', 'sno-renew.path', 'sno-renew.timer'],
        ...['sno-report.path', 'sno-report.timer', 'sno-rotate.service'],
        ...['sno-site-url.timer', 'sno-trial.service', 'sno-trial.timer'],
        ...['sno-update.path', 'sno-update.service'],
      ],
    );
    for (const { name, contents } of nodeUnits) {
      t.equal(systemd?.units?.find((unit) => unit.name === name)?.contents, contents, name);
    }
  });

  t.test('has what sno create --ignition has added, and refuses what collides', async (t) => {
    const own = (path: string, version = '3.4.0') =>
      JSON.stringify({
        ignition: { version },
        storage: { files: [{ path, mode: 0o600, contents: { source: 'data:,mine' } }] },
      });
    const it = await rendering(t);
    it.write('/opt/openshift/own.ign', own('/etc/shop/till.conf'), 0o600);
    await it.run(masterIgnition);
    t.equal(it.mode(ORIGINAL), 0o600);
    const { ignition, storage } = parseConfig(it.read(ORIGINAL), ORIGINAL);
    t.equal(ignition.version, '3.4.0', 'of the newer spec');
    const paths = storage?.files?.map(({ path }) => path);
    t.ok(paths?.includes('/etc/shop/till.conf') && paths.includes('/etc/sno-agents/kubelet.env'));
    it.write('/opt/openshift/own.ign', own('/etc/sno-agents/kubelet.env'), 0o600);
    await t.rejects(it.run(masterIgnition), /same entry.*\n.*kubelet\.env.*own\.ign/);
    it.write('/opt/openshift/own.ign', '{', 0o600);
    await t.rejects(it.run(masterIgnition), /own\.ign/);
  });

  t.test('contains the site configuration', async (t) => {
    const it = await rendering(t, { cluster: { additionalNtpSources: ['192.168.7.1'] } });
    await it.run(masterIgnition);
    const { storage } = parseConfig(it.read(ORIGINAL), ORIGINAL);
    const texts = storage?.files?.map(({ contents }) => decodeDataUrl(contents ?? {}).toString());
    t.ok(texts?.some((text) => text.includes('192.168.7.1')));
  });

  t.test('without keys there is no user, without a pull secret no file for it', async (t) => {
    const it = await rendering(t);
    it.remove('/var/lib/kubelet/config.json');
    await it.run(masterIgnition);
    const { storage, passwd } = parseConfig(it.read(ORIGINAL), ORIGINAL);
    t.same(passwd?.users ?? [], []);
    t.notOk(storage?.files?.some(({ path }) => path.endsWith('/config.json')));
  });

  t.test('is not accepted from an untrusted server', async (t) => {
    const { port } = await serveApi(t, (_, answer) => void answer.end('{}'));
    const machineConfigServerUrl = `https://127.0.0.1:${port}/config/master`;
    const it = await rendering(t, { cluster: { machineConfigServerUrl } });
    it.write('/opt/openshift/tls/kube-apiserver-serving-ca.crt', authority.certificate);
    t.match(await it.failureOf(masterIgnition), { kind: 'retry', message: /cannot be downloaded/ });
    t.notOk(it.has(ORIGINAL));
  });

  t.test('is fetched from the machine config server of the cluster', async (t) => {
    const master =
      '{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"crio.service","enabled":true}]}}';
    const answers = [master, '{"ignition":'];
    const { port } = await serveApi(t, (_, answer) => void answer.end(answers.shift()));
    const machineConfigServerUrl = `https://127.0.0.1:${port}/config/master`;
    const it = await rendering(t, { cluster: { machineConfigServerUrl } });
    it.write('/opt/openshift/tls/kube-apiserver-serving-ca.crt', servingAuthority);
    t.same(await it.run(masterIgnition), {
      kind: 'done',
      note: `fetched from ${machineConfigServerUrl}`,
    });
    t.equal(it.read(ORIGINAL), master);
    t.equal(it.mode(ORIGINAL), 0o600);
    t.match(it.lines.join(''), /Waiting for the master Ignition from https:\/\/127\.0\.0\.1/);
    it.remove(ORIGINAL);
    await t.rejects(it.run(masterIgnition), /config\/master/, 'one that cannot be parsed');
    t.notOk(it.has(ORIGINAL), 'is not kept');
  });

  t.test('an unparsable one is reported', async (t) => {
    const it = await rendering(t);
    it.write(ORIGINAL, '{"ignition":');
    await t.rejects(it.holds(masterIgnition), /original-master\.ign/);
  });
});

t.test('combined-ignition: holds if it is valid and matches', async (t) => {
  const it = host(t, { settings: { maxIgnitionMiB: 1 } });
  t.equal(await it.holds(combinedIgnition), false, 'none');
  it.write(MASTER, '{"ignition":{"version":"3.2.0"}}');
  t.equal(await it.holds(combinedIgnition), true);
  it.write(MASTER, '{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"relative"}]}}');
  t.equal(await it.holds(combinedIgnition), false, 'invalid');
  it.write(MASTER, `{"ignition":{"version":"3.2.0"}}${' '.repeat(2 ** 20)}`);
  t.equal(await it.holds(combinedIgnition), false, 'too large');
});
