/** What a live host hands over to an installed host whose keys are sealed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t, { type Test } from 'tap';
import { combinedIgnition } from '../../../../agents/bootkube/handover/combined-ignition.ts';
import { installedHostConfig } from '../../../../agents/bootkube/handover/installed-host.ts';
import { originalMasterPath } from '../../../../agents/bootkube/handover/master-ignition.ts';
import { writeSealKey } from '../../../../agents/bootkube/seal-key.ts';
import { identityFolder } from '../../../../agents/steps/kubelet-identity.ts';
import { liveSealCheck } from '../../../../agents/steps/preflight/seal.ts';
import { openKey } from '../../../../agents/upkeep/unseal/open-key.ts';
import { unsealFiles } from '../../../../agents/upkeep/unseal/unseal-files.ts';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { ledgerSchema } from '../../../../lib/cluster/installation/ledger.ts';
import { createSigningKey } from '../../../../lib/pki/keys.ts';
import { liveHost, neededBy, sealedInstalledHost } from '../../../../lib/render/hosts.ts';
import { type IgnitionConfig, parseConfig } from '../../../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../../../lib/render/ignition/validate.ts';
import { keyFingerprintsIn } from '../../../../lib/render/private-keys.ts';
import { placeFiles, saveRendered } from '../../../../lib/render/store.ts';
import { scanForKeys } from '../../../../lib/secrets/key-scan.ts';
import type { SealMode } from '../../../../lib/secrets/seal/mode.ts';
import { isInSealedFolder } from '../../../../lib/secrets/seal/places.ts';
import { rendered as everyday, host as facts } from '../../render/rendered-host.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { giveSnapshot } from './give-snapshot.ts';

const MASTER = '/opt/openshift/master.ign';
const MASTER_IGNITION =
  '{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"crio.service"}]}}';
const IDENTITY = 'kubelet-client-2026-01-31-00-00-00.pem';
const SEALED = '/var/lib/sno-agents/sealed';
const MEMORY = '/run/sno-agents/sealed';
const ENCRYPTION = '/etc/kubernetes/kube-apiserver/encryption.yaml';

/** A TPM of the machine, which both hosts have: it seals by writing backwards. */
function withTpm(host: TestHost): TestHost {
  host.programs.give('systemd-creds', `[ -e $ROOT/no-tpm ] && exit 1\nrev`);
  host.programs.give('mount', 'true');
  host.write('/proc/self/mountinfo', '');
  return host;
}

/** A live host after the steps before the combined Ignition. */
async function liveHostOf(t: Test, sealSecrets: SealMode): Promise<TestHost> {
  const live = withTpm(testHost(t, { cluster: { sealSecrets } }));
  const { context, paths } = live;
  await live.run(writeSealKey);
  await saveRendered(paths, 'input', facts, everyday);
  await placeFiles(paths, liveHost, everyday);
  const identity = (await createSigningKey()).privateKey;
  live.write(join(identityFolder(context), IDENTITY), identity);
  giveSnapshot(live);
  live.write(originalMasterPath(context), MASTER_IGNITION);
  return live;
}

async function combinedOf(live: TestHost): Promise<{ text: string; config: IgnitionConfig }> {
  await live.run(combinedIgnition);
  const text = live.read(MASTER);
  return { text, config: effectiveConfig(parseConfig(text, 'master.ign')).config };
}

const contentsIn = (config: IgnitionConfig) =>
  new Map(
    (config.storage?.files ?? []).map(({ path, mode, contents }) => [
      path,
      { mode, bytes: decodeDataUrl(contents ?? {}) },
    ]),
  );

/** An installed host with the files of that config. */
function firstBoot(t: Test, config: IgnitionConfig, sealSecrets: SealMode): TestHost {
  const host = withTpm(testHost(t, { cluster: { sealSecrets } }));
  for (const [path, { mode, bytes }] of contentsIn(config)) host.write(path, bytes, mode);
  return host;
}

/** Only while manifests wait, for nothing but them: it is deleted with its agent, and not sealed. */
const OF_DEFERRED = '/etc/sno-agents/deferred.key';
const permanent = everyday.files.filter(
  ({ keyClass, path }) => keyClass === 'permanent' && path !== OF_DEFERRED,
);
const keysOf = (files: typeof permanent) => [
  ...new Set(files.flatMap(({ contents }) => keyFingerprintsIn(contents))),
];
const encryptionSecret =
  /secret: (\S+)/.exec(
    everyday.files.find(({ path }) => path === ENCRYPTION)?.contents ?? '',
  )?.[1] ?? '';

for (const mode of ['tpm2', 'host'] as const) {
  t.test(`${mode}: no permanent key is in the combined Ignition in the clear`, async (t) => {
    const live = await liveHostOf(t, mode);
    const { text, config } = await combinedOf(live);
    const wanted = keysOf(permanent);
    t.ok(wanted.length >= 16, `${wanted.length} keys`);
    const { keys } = await scanForKeys(
      Readable.from([Buffer.from(text)]),
      AbortSignal.timeout(60_000),
    );
    const found = new Set(keys);
    t.ok(found.size > 0, 'the search finds that of the kubelet');
    const gone = keysOf(everyday.files.filter(({ keyClass }) => keyClass === 'gone'));
    t.ok(gone.length > 0);
    t.same(
      gone.filter((key) => found.has(key)),
      [],
      "nor that of the bootstrap's administrator",
    );
    t.same(
      wanted.filter((key) => found.has(key)),
      [],
    );
    t.not(encryptionSecret, '');
    const everything = [text, ...[...contentsIn(config).values()].map(({ bytes }) => `${bytes}`)];
    const raw = Buffer.from(encryptionSecret, 'base64').toString('latin1');
    for (const each of everything) {
      t.notOk(each.includes(encryptionSecret) || each.includes(raw), 'nor that of the encryption');
    }
    const places = [...contentsIn(config).keys(), ...foldersOf(config).keys()];
    t.same(places.filter(isInSealedFolder), [], 'nothing lies below the mounts');
  });

  t.test(`${mode}: the first boot of the installed host opens every file`, async (t) => {
    const live = await liveHostOf(t, mode);
    const { config } = await combinedOf(live);
    const host = firstBoot(t, config, mode);
    for (const [path, folderMode] of foldersOf(config)) {
      if (path.startsWith(SEALED)) t.equal(folderMode, 0o700, path);
    }
    await host.run(openKey);
    t.same(readFileSync(host.at(`${MEMORY}/key`)), readFileSync(live.at(`${MEMORY}/key`)));
    await host.run(unsealFiles);
    const sealed = neededBy(sealedInstalledHost, everyday.files).filter(({ path }) =>
      isInSealedFolder(path),
    );
    t.ok(sealed.length > 30, `${sealed.length} files`);
    for (const { path, mode: fileMode, contents } of sealed) {
      t.equal(host.read(`${MEMORY}/files${path}`), contents, path);
      t.equal(host.mode(`${MEMORY}/files${path}`), fileMode, path);
    }
    t.notOk(host.has(`${SEALED}/key`), 'the key in the clear is gone');
    host.remove('/run/sno-agents');
    await host.run(openKey);
    t.same(readFileSync(host.at(`${MEMORY}/key`)), readFileSync(live.at(`${MEMORY}/key`)));
  });
}

const foldersOf = (config: IgnitionConfig) =>
  new Map((config.storage?.directories ?? []).map(({ path, mode }) => [path, mode]));

t.test('tpm2: the key is handed over sealed; host: in the clear, to be sealed', async (t) => {
  const handedOver = async (mode: SealMode) => {
    const live = await liveHostOf(t, mode);
    const { text, config } = await combinedOf(live);
    const key = readFileSync(live.at(`${MEMORY}/key`));
    t.equal(key.length, 32);
    const files = contentsIn(config);
    const isInClear = text.includes(key.toString('base64'));
    return {
      isInClear,
      sealed: files.get(`${SEALED}/key.cred`),
      clear: files.get(`${SEALED}/key`),
    };
  };
  t.match(await handedOver('tpm2'), {
    isInClear: false,
    sealed: { mode: 0o600 },
    clear: undefined,
  });
  t.match(await handedOver('host'), { isInClear: true, sealed: undefined, clear: { mode: 0o600 } });
});

t.test('the unit that opens them, and its link, only where they are sealed', async (t) => {
  const names = ({ systemd, storage }: IgnitionConfig) => ({
    unit: systemd?.units?.find(({ name }) => name === 'sno-unseal.service')?.enabled,
    link: storage?.links?.some(({ path }) => path.endsWith('bin/sno-unseal')),
  });
  const live = await liveHostOf(t, 'tpm2');
  t.same(names((await combinedOf(live)).config), { unit: true, link: true });
  const { context } = live;
  const plain = { ...context, cluster: { ...context.cluster, sealSecrets: undefined } };
  t.same(names(await installedHostConfig(plain, { withBundle: false })), {
    unit: undefined,
    link: false,
  });
});

t.test('the ledger deletes nothing in sealed folders: a sealed copy would stay', async (t) => {
  const live = await liveHostOf(t, 'tpm2');
  const files = contentsIn((await combinedOf(live)).config);
  const text = files.get('/etc/sno-agents/leftovers.json')?.bytes.toString() ?? '';
  const { entries } = ledgerSchema.parse(JSON.parse(text));
  t.ok(entries.length > 3);
  t.same(
    entries.filter(({ path }) => isInSealedFolder(path)),
    [],
  );
});

t.test('a first boot that was killed after sealing deletes the key all the same', async (t) => {
  const { config } = await combinedOf(await liveHostOf(t, 'host'));
  const host = firstBoot(t, config, 'host');
  const inClear = readFileSync(host.at(`${SEALED}/key`));
  await host.run(openKey);
  host.write(`${SEALED}/key`, inClear, 0o600);
  host.remove('/run/sno-agents');
  await host.run(openKey);
  t.notOk(host.has(`${SEALED}/key`));
  t.same(readFileSync(host.at(`${MEMORY}/key`)), inClear);
});

t.test(
  'a key in the clear is never taken where a TPM is demanded, nor a damaged one',
  async (t) => {
    const { config } = await combinedOf(await liveHostOf(t, 'host'));
    const tpm = firstBoot(t, config, 'tpm2');
    t.match(await tpm.failureOf(openKey), { kind: 'fatal', code: 'sealed-file-damaged' });
    const host = firstBoot(t, config, 'host');
    host.write(`${SEALED}/key`, 'short');
    t.match(await host.failureOf(openKey), {
      kind: 'fatal',
      message: /sealed\/key contains no key/,
    });
  },
);

t.test('the key is made once, and not without a TPM that is demanded', async (t) => {
  const live = withTpm(testHost(t, { cluster: { sealSecrets: 'tpm2' } }));
  live.write('/no-tpm');
  t.match(await live.failureOf(writeSealKey), { kind: 'retry', code: 'seal-unavailable' });
  t.notOk(live.has(MEMORY));
  t.notOk(live.has(SEALED));
  live.remove('/no-tpm');
  // Killed before the key was in its place: nothing is sealed with it yet.
  live.write(`${SEALED}/key.cred`, 'of an earlier attempt');
  t.equal(await live.holds(writeSealKey), false);
  t.match(await live.run(writeSealKey), { note: "sealed by this machine's TPM" });
  t.equal(await live.holds(writeSealKey), true);
  t.equal(live.mode(MEMORY), 0o700);
  t.equal(live.mode(`${MEMORY}/key`), 0o600);
  t.notMatch(live.read(`${SEALED}/key.cred`), 'earlier');
  t.same(live.programs.calls('systemd-creds').at(-1), ENCRYPT);
  const plain = testHost(t);
  t.equal(await plain.holds(writeSealKey), true);
  t.match(await plain.run(writeSealKey), { note: 'not demanded' });
  t.notOk(plain.has(MEMORY));
});

const ENCRYPT =
  'systemd-creds encrypt --name=sno-agents --with-key=tpm2 --tpm2-device=auto --tpm2-pcrs=7 - -';

t.test('without the step seal-key nothing is combined', async (t) => {
  const live = await liveHostOf(t, 'tpm2');
  live.remove('/run/sno-agents');
  await t.rejects(combinedOf(live), { kind: 'fatal', code: 'seal-closed' });
});

t.test('preflight: the TPM seals and opens before a disk is written', async (t) => {
  const check = async (
    sealSecrets: SealMode | undefined,
    { tpm2Pcrs = '7', creds = 'rev' }: { tpm2Pcrs?: string; creds?: string } = {},
  ) => {
    const host = testHost(t);
    host.programs.give('systemd-creds', creds);
    const { paths, settings, cluster } = host.context;
    const finding = await liveSealCheck.run({
      ...{ paths, settings: { ...settings, tpm2Pcrs }, cluster: { ...cluster, sealSecrets } },
      ...{ hostname: 'edge-0', addresses: [], signal: AbortSignal.timeout(60_000) },
    });
    return finding.ok ? finding.fact : finding.problem;
  };
  t.equal(await check(undefined, { creds: 'exit 1' }), 'keys are not to be sealed');
  t.match(await check('host', { creds: 'exit 1' }), /at its first boot/);
  t.match(await check('tpm2'), /can be sealed/);
  t.match(await check('tpm2', { creds: 'exit 1' }), /cannot be sealed.*expected the TPM 2\.0/);
  const sealsOnly = '[ "$1" = encrypt ] && rev';
  t.match(await check('tpm2', { creds: sealsOnly }), /cannot be opened/);
  t.match(await check('tpm2', { creds: '[ "$1" = encrypt ] && rev || echo other' }), /something/);
  for (const [tpm2Pcrs, moving] of [
    ['4', /^PCR 4 is not the same/],
    ['1+7', /^PCR 1 is not/],
    ['7+8+9', /^PCR 8, 9 is not/],
  ] as const) {
    t.match(await check('tpm2', { tpm2Pcrs }), moving, tpm2Pcrs);
  }
  for (const tpm2Pcrs of ['7', '23', '0+2+7', '7+14', '']) {
    t.match(await check('tpm2', { tpm2Pcrs }), /can be sealed/, tpm2Pcrs);
  }
});
