import { AGENTS } from '../lib/engine/agents/table.ts';
import type { BundleView } from './bundle-view.ts';
import { hostFiles } from './reading/hosts.ts';
import { agentStatuses, currentStepJournals } from './reading/steps.ts';
import { msAt, textAt } from './reading/values.ts';
import { time } from './reading/words.ts';

/** Agents that perform the installation, the furthest advanced first. */
const LEADING = AGENTS.filter((agent) => 'installs' in agent)
  .map(({ name }) => name)
  .toReversed();
/** install-to-disk starts by waiting for bootkube, which is the active agent then. */
const WAITS = 'wait-for-bootkube';

/** The progress of the installation in one sentence. */
export function stateOf(view: BundleView): string {
  for (const path of hostFiles(view, 'agents/record.json')) {
    const completedMs = msAt(view.json(path), 'completed');
    if (completedMs === undefined) continue;
    const cluster = textAt(view.json(path), 'cluster') ?? 'the cluster';
    return `The installation of ${cluster} was completed on ${time(completedMs)}.`;
  }
  const statuses = agentStatuses(view).filter(({ step }) => step !== WAITS);
  const journals = currentStepJournals(view);
  for (const agent of LEADING) {
    const status = statuses.find((one) => one.agent === agent);
    if (status !== undefined) {
      const { step, number, of, state } = status;
      const where = `step ${number} of ${of}, ${step}`;
      if (state === 'running') return `${agent} is running ${where}.`;
      return state === 'done' ? `${agent} is done.` : `${agent} ended at ${where} (${state}).`;
    }
    const last = journals
      .find((journal) => journal.agent === agent)
      ?.entries.findLast(({ step }) => step !== WAITS);
    if (last !== undefined) {
      return `Last event of ${agent}: step ${last.step}, ${last.event}, at ${time(last.atMs)}.`;
    }
  }
  return 'The bundle does not show how far the installation is.';
}
