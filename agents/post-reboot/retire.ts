import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentLinks } from '../../lib/agents/links.ts';
import { agentsOf } from '../../lib/agents/table.ts';
import { exists, removeFile, syncDirectory } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { disableUnit, reloadUnits, startUnit } from '../../lib/host/systemd.ts';
import { ledgerPath } from '../../lib/installation/ledger.ts';
import { RESTORE_FOLDER } from '../../lib/installation/snapshot-record.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import { deferredUnit } from '../../units/installed.ts';
import type { HostContext } from '../steps/host-context.ts';

const UNIT = 'bootkube.service';
const unitPath = (paths: HostPaths, unit = UNIT) => paths.at(`/etc/systemd/system/${unit}`);

/** Folders that this plan deletes; the executable stays for the other agents. */
const folders = ({ state }: HostPaths) =>
  [RESTORE_FOLDER, 'live', ...agentsOf('pivot')].map((name) => join(state, name));
const links = ({ at }: HostPaths) => agentLinks(agentsOf('pivot')).map(({ path }) => at(path));

/**
 * Removes the agent's own unit, links and state, and starts the agent that applies deferred
 * manifests. The unit is removed last, and systemd reloaded after that: if killed before, the
 * agent is started once more and finishes, since the record shows that only this step is left.
 */
export const retire: StepBody<HostContext> = {
  name: 'retire',
  leaves: 'no unit, link, ledger or state of this plan',
  removesState: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) => !(await exists(unitPath(paths))),
  async run({ paths }, { signal }) {
    for (const folder of folders(paths)) await rm(folder, { recursive: true, force: true });
    for (const path of links(paths)) await removeFile(path);
    await removeFile(ledgerPath(paths));
    await syncDirectory(dirname(paths.binaries));
    // Not awaited: it may itself wait for days.
    if (await exists(unitPath(paths, deferredUnit.name))) {
      await startUnit(deferredUnit.name, signal);
    }
    if (await exists(unitPath(paths))) await disableUnit(UNIT, signal);
    await removeFile(unitPath(paths));
    await reloadUnits(signal);
    return done();
  },
};
