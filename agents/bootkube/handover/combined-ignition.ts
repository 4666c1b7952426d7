import { readFile } from 'node:fs/promises';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import { withClosedKeys } from '../../../lib/render/ignition/closed-keys.ts';
import { combine } from '../../../lib/render/ignition/combine.ts';
import {
  highestVersion,
  type IgnitionConfig,
  parseConfig,
} from '../../../lib/render/ignition/config.ts';
import { validateConfigText } from '../../../lib/render/ignition/validate.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { hostIdentity } from './host-identity.ts';
import { installedHostConfig } from './installed-host.ts';
import { machineConfigServer, originalMasterPath } from './master-ignition.ts';
import { snapshotRecordPath } from './snapshot.ts';

/** The Ignition spec that the installed operating system supports (RHCOS 4.12 and later, Ignition 2.14). */
const TARGET_SPEC = '3.2.0';

/**
 * Merges the master Ignition with everything that the installed host needs: static pods, keys,
 * configuration, snapshot, log bundle. The result is merged and validated here as Ignition will
 * do it, since an error would otherwise only appear at the first boot.
 */
export const combinedIgnition: StepBody<HostContext> = {
  name: 'combined-ignition',
  leaves: '/opt/openshift/master.ign (0600), validated, of a size that fits the boot partition',
  touches: ['disk'],
  input: async (context) => {
    const parts = [originalMasterPath(context), snapshotRecordPath(context)];
    const texts = await Promise.all(parts.map((path) => readTextIfPresent(path)));
    return [...texts.map((text) => sha256(text ?? '')), context.settings.maxIgnitionMiB];
  },
  async holds({ paths, settings }) {
    const text = await readTextIfPresent(paths.masterIgnition);
    if (text === undefined) return false;
    return validateConfigText(text, { limitBytes: limitBytes(settings) }).length === 0;
  },
  async run(context, progress) {
    const { paths, settings } = context;
    const limit = limitBytes(settings);
    const whole = await combined(context, { withBundle: true });
    const fits = whole.length <= limit;
    if (!fits) progress.warn(tooLarge(whole, limit));
    const text = fits ? whole : await combined(context, { withBundle: false, limitBytes: limit });
    await writeFileAtomic(paths.masterIgnition, text, 0o600);
    return done(`${Math.ceil(text.length / 1024)} KiB`);
  },
};

interface CombineOptions {
  readonly withBundle: boolean;
  readonly limitBytes?: number;
}

/** ASCII: contents are data URLs. */
async function combined(
  context: HostContext,
  { withBundle, ...limit }: CombineOptions,
): Promise<string> {
  const masterPath = originalMasterPath(context);
  const master = parseConfig(await readFile(masterPath, 'utf8'), masterPath);
  const { text } = combine({
    master: { origin: 'the master Ignition', config: withClosedKeys(master) },
    ours: { origin: 'the bootstrap', config: await installedHostConfig(context, { withBundle }) },
    mustWin: { origin: 'the live host', config: await hostIdentity(context) },
    targetSpec: targetSpec(context, master),
    ...limit,
  });
  return text;
}

/** What a person adds to a node that is rendered here may be of a newer spec: its system was chosen with it. */
const targetSpec = (context: HostContext, { ignition: { version } }: IgnitionConfig): string =>
  machineConfigServer(context) === undefined ? highestVersion(TARGET_SPEC, version) : TARGET_SPEC;

/** No installation fails because of its logs. */
const tooLarge = (text: string, limit: number) =>
  `The log bundle is left out: with it, the Ignition config has ${inMiB(text.length)} MiB, the limit is ${inMiB(limit)} MiB`;

const inMiB = (bytes: number) => Math.ceil(bytes / 2 ** 20);
const limitBytes = ({ maxIgnitionMiB }: HostContext['settings']) => maxIgnitionMiB * 2 ** 20;
