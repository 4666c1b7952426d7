import { readFileSync } from 'node:fs';
import { executableUnits } from './aio.ts';
import { labelUnit, networkUnit } from './live.ts';
import type { UnitFile } from './unit-file.ts';

/** Prepares a host without a live image, and removes itself once the host is installed. */
export const inPlaceUnit: UnitFile = {
  name: 'sno-in-place.service',
  enabled: true,
  contents: readFileSync(new URL('./in-place/sno-in-place.service', import.meta.url), 'utf8'),
};

/** Of the Ignition config with which such a host boots its disk for the first time. */
export const inPlaceUnits = ({
  source,
  hasNetworkConfig,
}: {
  readonly source: 'medium' | 'url';
  readonly hasNetworkConfig: boolean;
}): readonly UnitFile[] => [
  ...executableUnits(source),
  labelUnit,
  ...(hasNetworkConfig ? [networkUnit] : []),
  inPlaceUnit,
];

/** Those that the installed host does not have; its own last. */
export const onlyInPlaceUnits: readonly UnitFile[] = [
  // That of the other source has the same name.
  ...executableUnits('medium'),
  networkUnit,
  inPlaceUnit,
];
