import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { sealCheck } from '../../../../agents/steps/preflight/seal.ts';
import { mountFolders } from '../../../../agents/upkeep/unseal/mount-folders.ts';
import { openKey } from '../../../../agents/upkeep/unseal/open-key.ts';
import { unsealFiles } from '../../../../agents/upkeep/unseal/unseal-files.ts';
import { KEY_BYTES } from '../../../../lib/secrets/seal/envelope.ts';
import { writeKeptFiles } from '../../../../lib/secrets/seal/files.ts';
import type { SealMode } from '../../../../lib/secrets/seal/mode.ts';
import { testHost } from '../host/host.ts';

const CREDENTIAL = '/var/lib/sno-agents/sealed/key.cred';
const KEY = '/run/sno-agents/sealed/key';
const PKI = '/etc/kubernetes/pki';
const SERVER = `${PKI}/etcd/server.key`;

/** A systemd-creds that seals by writing backwards, and a mount that only records itself. */
function unsealHost(t: Test, sealSecrets?: SealMode) {
  const host = testHost(t, { cluster: { sealSecrets } });
  const { programs } = host;
  programs.give(
    'systemd-creds',
    `echo "$*" >> ${host.at('/creds-calls')}
[ -e ${host.at('/no-tpm')} ] && { echo 'TPM2 support is not available' >&2; exit 1; }
rev`,
  );
  programs.give(
    'mount',
    `for place; do :; done; echo "1 2 0:3 / $place rw - ramfs sno-sealed rw" >> ${host.at('/proc/self/mountinfo')}; echo "$*" >> ${host.at('/mounts')}`,
  );
  host.write('/proc/self/mountinfo', `1 2 0:3 / /proc rw shared:1 - proc proc rw\n`);
  return host;
}

/** As a restart of the host: what is in memory is gone. */
function reboot(host: ReturnType<typeof unsealHost>): void {
  host.remove('/run/sno-agents');
  host.write('/proc/self/mountinfo', '');
  host.write('/mounts', '');
}

t.test('unseal', async (t) => {
  t.test('the first boot creates the key, sealed as demanded', async (t) => {
    const host = unsealHost(t, 'tpm2');
    t.equal(await host.holds(openKey), false);
    t.match(await host.run(openKey), { note: "created, sealed by the host's TPM" });
    t.equal(await host.holds(openKey), true);
    const key = readFileSync(host.at(KEY));
    t.equal(key.length, KEY_BYTES);
    t.equal(host.mode(KEY), 0o600);
    t.equal(host.mode(CREDENTIAL), 0o600);
    t.notMatch(host.read(CREDENTIAL), key.toString('base64'));
    t.equal(
      host.read('/creds-calls'),
      'encrypt --name=sno-agents --with-key=tpm2 --tpm2-device=auto --tpm2-pcrs=7 - -\n',
      'the key is no argument',
    );
    t.match(host.read('/mounts'), /^-t ramfs -o mode=0700,nosuid,nodev,noexec /);
  });

  t.test('a later boot opens the same key, and every file', async (t) => {
    const host = unsealHost(t, 'host');
    await host.run(openKey);
    const key = readFileSync(host.at(KEY));
    await writeKeptFiles(host.paths, [{ path: SERVER, contents: 'a key', mode: 0o600 }]);
    host.remove(PKI);
    reboot(host);
    // Of a process that was killed while it wrote.
    host.write(`/var/lib/sno-agents/sealed/files${PKI}/etcd/.server.key.0123abcd.new`, 'half');
    t.match(await host.run(openKey), { note: "the secret of the host's systemd" });
    t.same(readFileSync(host.at(KEY)), key);
    t.match(host.read('/creds-calls'), 'decrypt --name=sno-agents - -\n');
    t.match(await host.run(unsealFiles), { note: '1 files' });
    t.equal(host.read(`/run/sno-agents/sealed/files${SERVER}`), 'a key');
    t.equal(await host.holds(mountFolders), false);
    await host.run(mountFolders);
    t.equal(await host.holds(mountFolders), true);
    t.equal(host.mode(PKI), 0o700);
    const from = host.at(`/run/sno-agents/sealed/files${PKI}`);
    t.match(host.read('/mounts'), `--bind -o nosuid,nodev,noexec ${from} ${host.at(PKI)}\n`);
    await host.run(mountFolders);
    t.equal(host.read('/mounts').split('--bind').length, 3, 'each once');
  });

  t.test('without a TPM nothing is created: never less than asked', async (t) => {
    const host = unsealHost(t, 'tpm2');
    host.write('/no-tpm');
    t.match(await host.failureOf(openKey), {
      kind: 'retry',
      code: 'seal-unavailable',
      message: /the key of this host cannot be sealed; expected the TPM 2\.0 .*TPM2 support is not/,
    });
    t.notOk(host.has(CREDENTIAL));
    t.notOk(host.has(KEY));
    const { paths, settings, cluster } = host.context;
    const input = {
      ...{ paths, settings, cluster, hostname: 'edge-0', addresses: [] },
      signal: AbortSignal.timeout(1000),
    };
    t.match(await sealCheck.run(input), { ok: false, problem: /sno-unseal has not ended/ });
    host.remove('/no-tpm');
    await host.run(openKey);
    t.match(await sealCheck.run(input), { ok: true });
    const none = { ...input, cluster: { ...cluster, sealSecrets: undefined } };
    t.match(await sealCheck.run(none), { ok: true, fact: 'keys are not to be sealed' });
  });

  t.test('another TPM opens nothing, and nothing is replaced', async (t) => {
    const host = unsealHost(t, 'tpm2');
    await host.run(openKey);
    const credential = host.read(CREDENTIAL);
    reboot(host);
    host.write('/no-tpm');
    t.match(await host.failureOf(openKey), { message: /cannot be opened/ });
    t.equal(host.read(CREDENTIAL), credential);
    t.notOk(host.has(KEY));
  });

  t.test('a key that is gone is not replaced', async (t) => {
    const host = unsealHost(t, 'host');
    await host.run(openKey);
    await writeKeptFiles(host.paths, [{ path: SERVER, contents: 'a key', mode: 0o600 }]);
    reboot(host);
    host.remove(CREDENTIAL);
    t.match(await host.failureOf(openKey), { kind: 'fatal', code: 'sealed-file-damaged' });
    host.remove('/var/lib/sno-agents/sealed');
    host.write('/var/lib/sno-agents/record.json', '{}');
    t.match(await host.failureOf(openKey), { kind: 'fatal' }, 'nor after the installation');
    t.notOk(host.has(CREDENTIAL));
  });

  t.test('a damaged file is named, and nothing is mounted over files in the clear', async (t) => {
    const host = unsealHost(t, 'host');
    await host.run(openKey);
    await writeKeptFiles(host.paths, [{ path: SERVER, contents: 'a key', mode: 0o600 }]);
    t.match(await host.failureOf(mountFolders), {
      kind: 'fatal',
      message: /has files that are not sealed.*etcd/,
    });
    host.write(
      `/var/lib/sno-agents/sealed/files${SERVER}`,
      'SNOSEAL1 and something else, too long',
    );
    t.match(await host.failureOf(unsealFiles), {
      kind: 'fatal',
      code: 'sealed-file-damaged',
      message: /files\/etc\/kubernetes\/pki\/etcd\/server\.key cannot be opened/,
    });
  });

  t.test('a host that is not to be sealed says so', async (t) => {
    t.match(await unsealHost(t).failureOf(openKey), { kind: 'usage' });
  });
});
