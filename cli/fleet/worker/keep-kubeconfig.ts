import { join } from 'node:path';
import { FIELD_MANAGERS } from '../../../lib/engine/report/site-status.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import { AUTH_FILES } from '../../site/make-volume.ts';
import { inTemporary } from '../../site/write-medium.ts';
import type { Surroundings } from '../../surroundings.ts';
import { SIGNER_NAME, saveBackupSigner } from '../../wait-for/backup-signer.ts';
import { EXCHANGE_TIMES, exchangeKubeconfig } from '../../wait-for/exchange.ts';
import type { Hub } from './hub.ts';
import { isInstallation, type Kept, type StoredKept, writeKept } from './kept.ts';
import { type HubSite, hubKinds, metadataOf } from './kinds.ts';

const kubeconfigOf = ({ made }: Kept): string | undefined =>
  made.outputs.find(({ path }) => path === AUTH_FILES.kubeconfig)?.contents;

/** In the form of Hive, by which other programs find it. It stays if the Site is deleted: there is no other one. */
export async function keepAdministrator(
  hub: Hub,
  site: HubSite,
  kept: Kept,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const kubeconfig = kubeconfigOf(kept);
  if (kubeconfig === undefined) return;
  const name = `${site.metadata.name}-admin-kubeconfig`;
  const labels = { 'hive.openshift.io/secret-type': 'kubeconfig' };
  const data = Object.entries({ kubeconfig, ...more }).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(site, name, { isOwned: false, labels }),
    data: Object.fromEntries(data),
  };
  const patch = { kind: 'apply', manager: FIELD_MANAGERS.worker } as const;
  await hub.patch(hubKinds.secrets, name, body, patch);
}

/** Of a node that is installed, the Ignition config is not needed any more: it has the pull secret and keys. */
export async function forgetConfig(hub: Hub, site: HubSite, kept: StoredKept): Promise<StoredKept> {
  const { made } = kept;
  if (!isInstallation(made) || made.config === undefined) return kept;
  const next = { ...kept, made: { ...made, config: undefined } };
  return writeKept(hub, site, next, kept.resourceVersion);
}

/**
 * What `sno wait-for install-complete` does with the kubeconfig of a folder. The new one is on the hub before the node is told
 * that the first one is not needed any more.
 *
 * @throws Failure (retry) `kubeconfig-not-exchanged` if the API of the node is not reached, and nothing is lost
 */
export async function keepExchanged(
  hub: Hub,
  site: HubSite,
  kept: StoredKept,
  { deadlineMs, print }: Pick<Surroundings, 'print'> & { readonly deadlineMs: number },
): Promise<void> {
  const { made } = kept;
  const first = kubeconfigOf(kept);
  if (!isInstallation(made) || first === undefined) return;
  const { signal } = hub;
  let stored = kept;
  const keep = async (contents: string) => {
    const outputs = made.outputs.map((each) =>
      each.path === AUTH_FILES.kubeconfig ? { ...each, contents } : each,
    );
    const next: Kept = { ...stored, made: { ...made, outputs } };
    stored = await writeKept(hub, site, next, stored.resourceVersion);
    await keepAdministrator(hub, site, stored);
  };
  await inTemporary(async (dir) => {
    const path = join(dir, 'kubeconfig');
    await writeFileAtomic(path, first, 0o600);
    const say = (line: string) =>
      print(`${site.metadata.name}: ${line.replaceAll(path, 'the kubeconfig')}`);
    await exchangeKubeconfig(path, {
      signingMs: Math.min(deadlineMs, EXCHANGE_TIMES.signingMs),
      publishedMs: Math.min(deadlineMs, EXCHANGE_TIMES.publishedMs),
      ...{ signal, now: () => new Date(), say, keep },
    });
    await saveBackupSigner(path, { signal, say: () => undefined });
    const signer = await readTextIfPresent(join(dir, SIGNER_NAME));
    if (signer !== undefined) await keepAdministrator(hub, site, stored, { [SIGNER_NAME]: signer });
  });
}
