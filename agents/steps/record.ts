import { join } from 'node:path';
import { productVersion } from '../../lib/base/version.ts';
import { userDataFile } from '../../lib/cluster/installation/in-place/user-data.ts';
import { readMarker } from '../../lib/cluster/installation/marker.ts';
import {
  type InstallationRecord,
  recordedSteps,
  writeRecord,
} from '../../lib/cluster/installation/record.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { type EndingAgent, installingAgents } from '../../lib/engine/agents/table.ts';
import { journalPath } from '../../lib/engine/steps/agent-command.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists } from '../../lib/host/files.ts';
import type { PlainHost } from './host-context.ts';
import { readRevisions } from './revisions.ts';
import { readRestarts } from './steady-state.ts';

/**
 * Records the installation, from the journals of all its agents, before this agent's state is
 * deleted: `/var/lib/sno-agents/record.json`.
 */
export const record = (agent: EndingAgent): StepBody<PlainHost> => ({
  name: 'record',
  leaves: '/var/lib/sno-agents/record.json: every step with its time, and the restarts',
  touches: ['disk', 'runtime', 'clock'],
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(paths.record),
  async run(context) {
    const { paths, cluster } = context;
    const journals: [agent: string, path: string][] = [
      ...installingAgents.live.map(({ name }): [string, string] => [
        name,
        join(paths.state, `live/${name}.jsonl`),
      ]),
      ...installingAgents.installed.map(({ name }): [string, string] => [
        name,
        journalPath(paths, name),
      ]),
    ];
    const steps = await Promise.all(
      journals.map(async ([name, path]) => recordedSteps(name, await readJournal(path))),
    );
    const revisions = await readRevisions(paths);
    const userData = await userDataFile(paths).read();
    const summary: InstallationRecord = {
      schemaVersion: 1,
      version: productVersion,
      clusterId: cluster.clusterId,
      cluster: clusterDomain(cluster),
      node: context.hostname(),
      installed: (await readMarker(paths.at('/var')))?.at,
      completed: new Date().toISOString(),
      containerRestarts: await readRestarts(context, agent),
      ...(revisions.length === 0 ? {} : { revisions: [...revisions] }),
      ...(userData === undefined ? {} : { userDataServed: userData.isServed }),
      steps: steps.flat(),
    };
    await writeRecord(paths, summary);
    return done();
  },
});
