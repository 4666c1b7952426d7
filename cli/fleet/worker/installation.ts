import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { BACKUP_TO } from '../../../lib/change/backup/push/backup-to.ts';
import { REPORT_TO } from '../../../lib/engine/report/report-to.ts';
import { readTextIfPresent, sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import { METADATA_NAME } from '../../create/metadata.ts';
import { type OutputFile, writeOutputs } from '../../create/outputs.ts';
import { IGNITION_NAME } from '../../create/single-node-ignition-config.ts';
import { createSharedIsoConfig, createSingleNodeIso } from '../../create/single-node-iso.ts';
import { INSTALL_CONFIG } from '../../install-config/file-name.ts';
import { AUTH_FILES } from '../../site/make-volume.ts';
import { inTemporary } from '../../site/write-medium.ts';
import type { Surroundings } from '../../surroundings.ts';
import { machinesOf } from './claims.ts';
import type { Hub } from './hub.ts';
import { gatherInputs, type SiteInputs } from './inputs.ts';
import { keepOnce } from './keep-once.ts';
import { isInstallation, type StoredKept, writeKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { type By, type HubDelivery, type PreparedSite, requireDelivery } from './prepared.ts';
import { resetForSerial } from './progress.ts';
import { addressOf, configName, publishConfig, publishIso } from './publish.ts';
import { filledText, hidingSecrets, placeFiles } from './render.ts';
import { reportAccess } from './report-access.ts';
import { bootFrom, requireBootable } from './virtual-media.ts';

const DELIVERED: Readonly<Record<By, string>> = {
  virtualMedia: 'the BareMetalHost boots the live ISO',
  url: 'something has to boot the host with the live ISO at its address',
  person: 'somebody has to boot the host with the live ISO',
};

/** The live ISO of a new node: a copy of the shared one with a config of its own. */
export async function prepareInstallation(
  hub: Hub,
  site: HubSite,
  delivery: HubDelivery,
): Promise<PreparedSite> {
  const { place } = delivery;
  const by = requireDelivery(site, place);
  const host = by === 'virtualMedia' ? await requireBootable(hub, site) : undefined;
  const inputs = await gatherInputs(hub, site);
  const text = filledText(inputs);
  const kept = await hidingSecrets(inputs, () =>
    inTemporary(async (dir) => {
      await placeFiles(
        dir,
        new Map<string, string | Uint8Array>([[INSTALL_CONFIG, text], ...filesBeside(inputs)]),
      );
      return publish(hub, site, { dir, source: sourceOf(site, text, inputs) }, delivery);
    }),
  );
  const url = addressOf(place, kept);
  return {
    // Whoever knows the address can read the pull secret and keys of the site.
    volume: {},
    reason: by,
    message: DELIVERED[by],
    async deliver() {
      if (host !== undefined && url !== undefined) await bootFrom(hub, site, host, url);
    },
  };
}

/** Other files have nothing to do with an installation: the keys of Secrets are values. */
const filesBeside = ({ files }: SiteInputs) =>
  [...files].filter(([path]) => path.includes('/') || path === BACKUP_TO);

/** A digest of all that makes an ISO another one. */
const sourceOf = ({ spec }: HubSite, text: string, inputs: SiteInputs): string =>
  sha256(
    JSON.stringify([
      'install',
      spec.delivery?.by,
      sha256(text),
      filesBeside(inputs)
        .map(([path, bytes]) => [path, sha256(bytes)])
        .toSorted(),
    ]),
  );

interface Folder {
  /** With install-config.yaml and manifests. */
  readonly dir: string;
  readonly source: string;
}

async function publish(
  hub: Hub,
  site: HubSite,
  { dir, source }: Folder,
  delivery: HubDelivery,
): Promise<StoredKept> {
  const { place, shared = '', configByUrl } = delivery;
  const quiet = quietly(hub, site, delivery);
  const make = async () => {
    const reportTo = await reportAccess(hub, site, delivery.nodesHub, { isInstallation: true });
    await writeFileAtomic(join(dir, REPORT_TO), reportTo, 0o600);
    const isEmbedded = configByUrl === undefined;
    await createSharedIsoConfig({ dir, shared, isEmbedded }, quiet);
    return { made: await madeIn(dir), reportTo, asked: [] };
  };
  const once = { source, machines: machinesOf(site, { hosts: [] }, undefined), make };
  const kept = await keepOnce(hub, site, once, place);
  const { made, reportTo } = kept;
  const { config } = isInstallation(made) ? made : {};
  if (config === undefined || reportTo === undefined) throw alreadyInstalled();
  await resetForSerial(hub, site);
  const write = async (output: string) => {
    await placeMissing(dir, [
      { path: REPORT_TO, contents: reportTo },
      { path: IGNITION_NAME, contents: config },
      ...made.outputs,
    ]);
    const configUrl =
      configByUrl === undefined ? {} : byUrl(place.url, configName(kept), configByUrl.ca);
    await createSingleNodeIso({ dir, shared, output, ...configUrl }, quiet);
    if (configByUrl === undefined) return;
    await publishConfig(place, kept, await readFile(join(dir, configName(kept)), 'utf8'));
  };
  // It is renamed once it is complete, so that the digest of its config is enough: that of the ISO takes seconds.
  const digest = sha256(config);
  const keep = () => writeKept(hub, site, { ...kept, sha256: digest }, kept.resourceVersion);
  return publishIso(place, kept, { write, digestOf: async () => digest, keep });
}

function byUrl(url: string | undefined, name: string, ca: string | undefined) {
  if (url === undefined) {
    throw new Failure('usage', '--config-by-url: only with --publish-url');
  }
  return {
    configUrl: `${url.replace(/\/+$/, '')}/${name}`,
    ...(ca === undefined ? {} : { configUrlCa: ca }),
  };
}

async function madeIn(dir: string) {
  const output = async (path: string) => ({
    path,
    contents: await readFile(join(dir, path), 'utf8'),
  });
  return {
    config: await readFile(join(dir, IGNITION_NAME), 'utf8'),
    outputs: [await output(AUTH_FILES.kubeconfig), await output(METADATA_NAME)],
  };
}

/** What an earlier run has made: this one goes on with it. */
async function placeMissing(dir: string, files: readonly OutputFile[]): Promise<void> {
  for (const { path, contents } of files) {
    const at = join(dir, path);
    if ((await readTextIfPresent(at)) === undefined) await writeOutputs([{ path: at, contents }]);
  }
}

/** Of what `sno create` says, notices alone are for the log of a pod. */
function quietly(hub: Hub, site: HubSite, { environment, notice }: HubDelivery): Surroundings {
  const silent = () => undefined;
  return {
    environment,
    print: silent,
    wrote: silent,
    complain: silent,
    notice: (text) => notice(`${site.metadata.name}: ${text}`),
    async *answers() {},
    signal: hub.signal,
  };
}

const alreadyInstalled = () =>
  new Failure('usage', 'the node of this serial was installed, and its config is not kept', {
    fix: 'Raise spec.serial for another installation, which erases the disk.',
  });
