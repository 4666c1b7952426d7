import { type Combined, combine } from './combine.ts';
import { highestVersion, type IgnitionConfig } from './config.ts';
import { BASE_SPEC } from './entries.ts';

/** What a person adds to the host, where the live host finds it: below the folder of the assets. */
export const OWN_CONFIG_NAME = 'own.ign';

/**
 * A config of this program with what a person adds. The result has the higher spec version of both: whether the host's
 * Ignition reads that is known to the person alone.
 *
 * @throws Failure (fatal) that names each entry that both define, and what the merge would make invalid
 */
export function withOwnConfig(
  ours: IgnitionConfig,
  own: { readonly origin: string; readonly config: IgnitionConfig },
): Combined {
  return combine({
    ours: { origin: 'sno', config: ours },
    master: own,
    targetSpec: highestVersion(BASE_SPEC, ours.ignition.version, own.config.ignition.version),
  });
}
