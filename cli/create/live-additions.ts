import { join } from 'node:path';
import { hostPaths } from '../../lib/host/paths.ts';
import { type IgnitionConfig, serializeConfig } from '../../lib/render/ignition/config.ts';
import { OWN_CONFIG_NAME } from '../../lib/render/ignition/own-config.ts';
import type { Additions } from './additions.ts';
import { aioIgnitionConfig } from './aio-ignition-config.ts';
import { plain } from './live-ignition.ts';
import { mergedWith } from './own-config.ts';
import { withSettings } from './own-settings.ts';
import type { IgnitionInput } from './shared-entries.ts';

/** The file of a live host with what a person adds to the installed one. */
export const ownConfigPath = join(hostPaths().assets, OWN_CONFIG_NAME);

/** Of an installation whose payload is not known yet. */
const NO_DIGEST = '0'.repeat(64);

/**
 * The config of a live host, with what a person adds. Settings are those of its agents, too, and bootkube passes them on. The rest is for
 * the installed host, and the live host merges it when it renders that host's config. What collides there is refused here: an
 * all-in-one host of the same input has the entries that both kinds share.
 *
 * @throws Failure (usage)
 */
export function liveWithAdditions(
  live: IgnitionConfig,
  input: IgnitionInput,
  { own, settings }: Additions,
): IgnitionConfig {
  const config = withSettings(live, settings, plain);
  if (own === undefined) return config;
  const { installation: _, ...cluster } = input.cluster;
  mergedWith(
    aioIgnitionConfig({
      ...input,
      cluster: { ...cluster, payloadSha256: cluster.payloadSha256 ?? NO_DIGEST },
    }),
    own,
  );
  const file = plain(ownConfigPath, 0o600, serializeConfig(own.config));
  const files = [...(config.storage?.files ?? []), file];
  return { ...config, storage: { ...config.storage, files } };
}
