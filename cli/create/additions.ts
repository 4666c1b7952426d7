import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { file } from '../../lib/render/ignition/entries.ts';
import {
  mergedWith,
  type OwnConfig,
  type OwnConfigOptions,
  ownNotices,
  readOwnConfig,
} from './own-config.ts';
import {
  type OwnSettings,
  readOwnSettings,
  type SettingsOptions,
  withSettings,
} from './own-settings.ts';

/** Options for what a person adds to a host: of every command that creates its Ignition config. */
export interface AdditionOptions extends OwnConfigOptions, SettingsOptions {}

/** What a person adds to a host. */
export interface Additions {
  readonly own: OwnConfig | undefined;
  readonly settings: OwnSettings | undefined;
  /** What only the person can know. */
  readonly notices: readonly string[];
}

/** @throws Failure (usage) */
export async function readAdditions(
  options: AdditionOptions,
  signal: AbortSignal,
): Promise<Additions> {
  const own = await readOwnConfig(options, signal);
  return { own, settings: await readOwnSettings(options, signal), notices: ownNotices(own) };
}

/** The config of a host that boots from its disk, with what a person adds. @throws Failure (usage) */
export const withAdditions = (
  config: IgnitionConfig,
  { own, settings }: Additions,
): IgnitionConfig => mergedWith(withSettings(config, settings, file), own);
