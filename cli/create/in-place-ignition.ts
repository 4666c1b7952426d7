import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { Failure } from '../../lib/base/errors/failure.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { sha256 } from '../../lib/host/files.ts';
import { createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { inapplicable } from '../../lib/render/ignition/plain-entries.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import type { Surroundings } from '../surroundings.ts';
import type { AdditionOptions, Additions } from './additions.ts';
import { inspect } from './aio-ignition.ts';
import { dayOneWorkers } from './day-one-workers.ts';
import { kibibytes } from './embed-area.ts';
import { type HostSources, type SourceOptions, writeAll } from './host-sources.ts';
import { bundleUnits, inPlaceIgnition, packed } from './in-place-ignition-config.ts';
import { liveWithAdditions } from './live-additions.ts';
import { liveIgnition, plain } from './live-ignition.ts';
import { FOLDER } from './medium-files.ts';
import { requireAbsent } from './outputs.ts';
import { withSettings } from './own-settings.ts';
import { manifestNotices } from './single-node-ignition-config.ts';
import { aioNotices } from './site-notices.ts';
import { soundText } from './sound-text.ts';
import { WORKER_IGNITION_NAME, type WorkerConfigOptions } from './worker-config.ts';

/** In the folder with install-config.yaml. */
export const IN_PLACE_NAMES = { ignition: 'in-place.ign', bundle: 'in-place.bundle' } as const;

/** Bytes of user data that AWS takes, the least of the clouds (its documentation, "Instance user data"). */
export const USER_DATA_BYTES = 16_384;

export interface InPlaceOptions extends SourceOptions, WorkerConfigOptions, AdditionOptions {
  /** The folder with install-config.yaml; outputs go there too. */
  dir: string;
  /** Where the host fetches in-place.bundle, once. Default: it is on the medium. */
  bundleUrl?: string;
}

/**
 * `sno create in-place-ignition`: user data for the first boot of a host that bootstraps in memory on its own disk, the
 * bundle that it fetches once, and the administrator's kubeconfig.
 * @throws Failure (usage), with nothing written, that names every fault of the folder and the options
 */
export async function createInPlaceIgnition(
  options: InPlaceOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir } = options;
  const { print, wrote, notice, signal } = surroundings;
  requireOneSource(options);
  const [ignition, bundlePath] = [
    join(dir, IN_PLACE_NAMES.ignition),
    join(dir, IN_PLACE_NAMES.bundle),
  ];
  const kubeconfig = join(dir, 'auth', 'kubeconfig');
  const outputPaths = [ignition, ...(isOnMedium(options) ? [] : [bundlePath]), kubeconfig];
  const sound = await inspect(options, outputPaths, surroundings);
  const { settings, user, reportTo, backupTo, additions } = sound;
  requireInPlace(settings.cluster);
  requireAppliedHere(additions);
  const { installation: _, ...described } = settings.cluster;
  const cluster = {
    ...described,
    ...sound.payload,
    clusterId: randomUUID(),
    executableSha256: sound.executableSha256,
  };
  const domain = clusterDomain(cluster);
  const { authorities, kubeconfig: administrator } = await createLaptopCredentials(
    domain,
    cluster.name,
  );
  const apiCa = authorities.servingCa.certificate;
  const workers = dayOneWorkers({ settings, cluster, apiCa, options });
  const worker = join(dir, WORKER_IGNITION_NAME);
  if (workers !== undefined) await requireAbsent([worker]);
  const input = {
    ...{ cluster, authorities, pullSecret: settings.pullSecret, reportTo, backupTo },
    ...{ manifests: user.manifests, deferred: user.deferred, workerToken: workers?.token },
  };
  const live = liveWithAdditions(liveIgnition({ ...input, units: bundleUnits }), input, additions);
  const bundle = await sealed(soundText(live));
  const userData = inPlaceIgnition({
    ...{ cluster, executableUrl: options.agentsUrl },
    bundle: {
      ...(options.bundleUrl === undefined ? {} : { url: options.bundleUrl }),
      ...{ sha256: sha256(bundle.bytes), key: bundle.key },
    },
  });
  const whole = withSettings(userData, additions.settings, plain);
  const text = soundText(packed(soundText(whole)));
  requireUserData(text, whole);

  signal.throwIfAborted();
  const outputs = [
    { path: kubeconfig, contents: administrator },
    ...(isOnMedium(options) ? [] : [{ path: bundlePath, contents: bundle.bytes }]),
    { path: ignition, contents: text },
    ...(workers === undefined ? [] : [{ path: worker, contents: workers.text }]),
  ];
  await writeWithBundle(outputs, bundle.bytes, sound.medium, surroundings);
  wrote(ignition, `${Buffer.byteLength(text)} of ${USER_DATA_BYTES} bytes of user data`);
  if (!isOnMedium(options)) {
    wrote(bundlePath, `${kibibytes(bundle.bytes.length)}, encrypted; to be served once`);
  }
  wrote(kubeconfig, `for https://api.${domain}:6443`);
  const source = cluster.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`;
  print(`Control plane: ${cluster.controlPlane}, from the payload on ${source}`);
  if (workers !== undefined) {
    wrote(worker, 'for all workers');
    print(`Workers reach the API at ${workers.apiServer}`);
  }
  for (const line of [
    ...(workers?.notices ?? []),
    ...aioNotices(settings),
    ...passwordNotices(cluster),
    ...manifestNotices(user),
    ...sound.notRead,
    ...sound.payloadNotices,
    ...additions.notices,
    `${ONE_INSTALLATION}: ${isOnMedium(options) ? DESTROY_MEDIUM : DELETE_BUNDLE}`,
  ]) {
    notice(line);
  }
}

const ONE_INSTALLATION = `one Ignition config is one installation: create another one for each host. ${IN_PLACE_NAMES.ignition} has the key of ${IN_PLACE_NAMES.bundle}`;
const DELETE_BUNDLE = 'serve the bundle once, and delete it when the host has fetched it';
const DESTROY_MEDIUM =
  'remove the medium and delete it once the host has copied bundle and payload';

const isOnMedium = ({ mediumIso }: Pick<InPlaceOptions, 'mediumIso'>) => mediumIso !== undefined;

/** The outputs, and the medium with the bundle if there is to be one; or nothing. */
async function writeWithBundle(
  outputs: Parameters<typeof writeAll>[0],
  bundle: Uint8Array,
  medium: HostSources['medium'],
  surroundings: Surroundings,
): Promise<void> {
  if (medium === undefined) return writeAll(outputs, undefined, surroundings);
  const work = await mkdtemp(join(tmpdir(), 'sno-in-place-'));
  try {
    const source = join(work, IN_PLACE_NAMES.bundle);
    await writeFile(source, bundle, { mode: 0o600 });
    const file = { source, path: `${FOLDER}/${IN_PLACE_NAMES.bundle}`, mode: 0o644 };
    const files = [...medium.files, file];
    await writeAll(outputs, { ...medium, files, secrets: 'its bundle is encrypted' }, surroundings);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The bundle for a new key. */
async function sealed(text: string): Promise<{ readonly bytes: Uint8Array; readonly key: string }> {
  const key = await generateX25519Identity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(key));
  return { bytes: await encrypter.encrypt(text), key };
}

/** Everything by URL, or everything on a medium. @throws Failure (usage) */
function requireOneSource({ mediumIso, bundleUrl, agentsUrl, payloadUrl }: InPlaceOptions): void {
  const urls = {
    ...{ '--bundle-url': bundleUrl, '--agents-url': agentsUrl, '--payload-url': payloadUrl },
  };
  const given = Object.entries(urls).flatMap(([name, url]) => (url === undefined ? [] : [name]));
  const isWhole = mediumIso === undefined ? given.length === 3 : given.length === 0;
  if (bundleUrl !== undefined) requireBundleUrl(bundleUrl);
  if (isWhole) return;
  throw new Failure('usage', 'where the host gets its files is not clear; nothing was written', {
    expected: `${Object.keys(urls).join(', ')}; or --medium-iso alone`,
    found: [...(mediumIso === undefined ? [] : ['--medium-iso']), ...given].join(', ') || 'none',
  });
}

/** @throws Failure (usage). It may be a secret: it is not quoted. */
function requireBundleUrl(url: string): void {
  const isPlain = /^https?:\/\/[!-~]+$/.test(url) && !/[#@\\"'<>`{|}^]/.test(url);
  if (isPlain && URL.canParse(url)) return;
  throw new Failure('usage', '--bundle-url cannot be used; nothing was written', {
    expected: 'an http or https URL of plain characters, without user and fragment',
  });
}

function requireInPlace({ inPlace }: { readonly inPlace?: true | undefined }): void {
  if (inPlace === true) return;
  throw new Failure('usage', 'bootstrapInPlace.target is missing; nothing was written', {
    expected: 'self, for a host that is installed to the disk that it boots from',
    fix: 'Write bootstrapInPlace: {target: self} into install-config.yaml.',
  });
}

/** Before anything happens: the host would refuse it after the bootstrap. */
function requireAppliedHere({ own }: Additions): void {
  if (own === undefined) return;
  const faults = inapplicable(own.config);
  if (faults.length === 0) return;
  const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
  throw new Failure(
    'usage',
    [
      `${own.origin} has what a host without a live image cannot apply; nothing was written`,
      ...lines,
    ].join('\n'),
    { code: 'in-place-unsupported', fix: 'Leave it out, or install the host from a live image.' },
  );
}

/** @throws Failure (usage) that names the largest files */
function requireUserData(text: string, whole: ReturnType<typeof inPlaceIgnition>): void {
  const bytes = Buffer.byteLength(text);
  if (bytes < USER_DATA_BYTES) return;
  const largest = (whole.storage?.files ?? [])
    .map((file) => ({ path: file.path, size: JSON.stringify(file).length }))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, 3)
    .map(({ path, size }) => `${path} (${size} before compression)`);
  throw new Failure('usage', 'the user data is too large; nothing was written', {
    expected: `less than ${USER_DATA_BYTES} bytes, which every cloud takes`,
    found: `${bytes} bytes; the largest files: ${largest.join(', ')}`,
    fix: 'Shorten what they are made from: additionalTrustBundle, networkConfig, imageDigestSources, sshKey or settings.',
  });
}

/** What a host needs before it reaches the bundle. */
function passwordNotices({
  proxy,
  networkConfig,
}: Pick<Parameters<typeof inPlaceIgnition>[0]['cluster'], 'proxy' | 'networkConfig'>): string[] {
  const proxies = [proxy?.httpProxy, proxy?.httpsProxy].filter((url) => url !== undefined);
  const hasPassword = proxies.some((url) => new URL(url).password !== '');
  return [
    ...(hasPassword ? [`${IN_PLACE_NAMES.ignition} has the password of the proxy`] : []),
    ...(/password/i.test(networkConfig ?? '')
      ? [`${IN_PLACE_NAMES.ignition} has the passwords of networkConfig`]
      : []),
  ];
}
