import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeGoneKeys } from '../../lib/cluster/installation/gone-keys.ts';
import { ledgerPath, readLedger } from '../../lib/cluster/installation/ledger.ts';
import { agentLinks } from '../../lib/engine/agents/links.ts';
import { type EndingAgent, removedWith, unitOf } from '../../lib/engine/agents/table.ts';
import { journalPath } from '../../lib/engine/steps/agent-command.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, removeFile, syncDirectory } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { disableUnit, reloadUnits, startUnit } from '../../lib/host/systemd.ts';
import { deferredUnit } from '../../units/installed.ts';
import type { PlainHost } from './host-context.ts';
import { removeInDeployments, unitInDeployments } from './other-deployments.ts';

const NAME = 'retire';

const unitPath = (paths: HostPaths, unit: string) => paths.at(`/etc/systemd/system/${unit}`);

/**
 * Removes the agent's own unit, the links and state of every agent that ends with it, and further
 * folders below the agents' state; starts the agent that applies deferred manifests. The executable
 * stays for the other agents. The unit is removed last, and systemd reloaded after that: if killed
 * before, the agent is started once more and finishes, since the record shows that only this step
 * is left.
 */
export function retireAgent(
  agent: EndingAgent,
  folders: readonly string[] = [],
): StepBody<PlainHost> {
  const unit = `${unitOf(agent)}.service`;
  return {
    name: NAME,
    leaves: 'no unit, link, ledger or state of this plan',
    touches: ['disk', 'systemd'],
    removesState: true,
    input: ({ cluster }) => cluster.clusterId,
    holds: async ({ paths }) => !(await exists(unitPath(paths, unit))),
    async run({ paths }, { signal }) {
      const agents = removedWith(agent);
      for (const folder of [...folders, ...agents]) {
        await rm(join(paths.state, folder), { recursive: true, force: true });
      }
      for (const { path } of agentLinks(agents)) await removeFile(paths.at(path));
      // For the command verify-clean, which stays.
      const ledger = await readLedger(paths);
      if (ledger !== undefined) await writeGoneKeys(paths, ledger.goneKeys);
      await removeFile(ledgerPath(paths));
      await syncDirectory(dirname(paths.binaries));
      // Not awaited: it may itself wait for days.
      if (await exists(unitPath(paths, deferredUnit.name))) {
        await startUnit(deferredUnit.name, signal);
      }
      await removeInDeployments(paths, await unitInDeployments(paths, unit), 'deleted', signal);
      if (await exists(unitPath(paths, unit))) await disableUnit(unit, signal);
      await removeFile(unitPath(paths, unit));
      await reloadUnits(signal);
      return done();
    },
  };
}

/**
 * The arguments for a plan that ends with this step: if the record is written and the journal is
 * deleted or new, the only step left of a plain `run` is to retire.
 */
export async function retiringArguments(
  paths: HostPaths,
  agent: EndingAgent,
  args: readonly string[],
): Promise<readonly string[]> {
  const isPlainRun = args.length === 1 && args[0] === 'run';
  return isPlainRun && (await isRetiring(paths, agent)) ? ['run', '--from', NAME] : args;
}

async function isRetiring(paths: HostPaths, agent: string): Promise<boolean> {
  const entries = await readJournal(journalPath(paths, agent));
  const onlyRetire = entries.every(({ step }) => step === NAME);
  return onlyRetire && (await exists(paths.record));
}
