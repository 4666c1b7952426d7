import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inPlacePlaces } from '../../lib/cluster/installation/in-place/places.ts';
import { agentLinks } from '../../lib/engine/agents/links.ts';
import { agentsOf } from '../../lib/engine/agents/table.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import {
  exists,
  namesIn,
  removeFile,
  removeOverwritten,
  syncDirectory,
} from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { disableUnit, reloadUnits } from '../../lib/host/systemd.ts';
import { onlyInPlaceUnits } from '../../units/in-place.ts';

/** Of the Ignition config, beside the units: what the installed host does not have. */
const FILES = [
  '/etc/sno-agents/executable.curl',
  '/etc/sno-agents/executable-part.sha256',
  '/etc/sno-agents/network.yml',
];

/** Folders that were only covered: the installed host has nothing there. */
const COVERED = ['/opt/openshift', '/root/.docker'];

/** Of a live host; `progress` stays until the installation is complete. */
const AGENTS_BEFORE = [...agentsOf('in-place'), ...agentsOf('live')].filter(
  (name) => name !== 'progress',
);

/**
 * At the first boot of the installed host: removes what has brought it that far. The bundle and its key are overwritten,
 * as far as the file system and the disk write in place: in free blocks of the disk they would open each other. The
 * units are removed after all that matters, so that a killed run is repeated at the next boot.
 */
export const forget: StepBody<{ readonly paths: HostPaths }> = {
  name: 'forget',
  leaves: 'no bundle, no key of it, and no unit, link or state of this agent',
  touches: ['disk', 'systemd'],
  removesState: true,
  input: () => null,
  holds: async ({ paths }) => !(await exists(inPlacePlaces(paths).folder)),
  async run({ paths }, { signal }) {
    const { bundle, config, folder } = inPlacePlaces(paths);
    for (const secret of [bundle, `${bundle}.partial`, config]) await removeOverwritten(secret);
    for (const path of FILES) await removeFile(paths.at(path));
    for (const folder of COVERED.map(paths.at)) {
      if ((await namesIn(folder)).length === 0) await rm(folder, { recursive: true, force: true });
    }
    for (const { path } of agentLinks(AGENTS_BEFORE)) await removeFile(paths.at(path));
    for (const { name } of onlyInPlaceUnits) {
      const path = paths.at(`/etc/systemd/system/${name}`);
      if (!(await exists(path))) continue;
      await disableUnit(name, signal);
      await removeFile(path);
    }
    // Its file is what the unit verifies the executable by.
    await rm(folder, { recursive: true, force: true });
    await syncDirectory(dirname(folder));
    await reloadUnits(signal);
    return done();
  },
};
