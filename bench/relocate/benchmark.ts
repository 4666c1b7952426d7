import { KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { type RelocateBesideBare, readRelocateBesideBare } from '../../lab/relocate/beside-bare.ts';
import { FACTORY_SCENARIO, removeFactoryNode } from '../../lab/relocate/factory.ts';
import { defaultSettings } from '../../lib/host/settings.ts';
import type { Benchmark, Row } from '../benchmark.ts';
import { expectLab, LAB_MS, runLab } from '../lab-run.ts';
import { compare } from '../statistics.ts';

const WINDOW_SECONDS = defaultSettings.reconfigureWindowMs / 1000;
const GOAL = { ratio: 1.2, memory: 2 };

/** From the insertion of a site volume to PASS, and the agent's memory. */
export const relocate: Benchmark = {
  name: 'relocate',
  compares:
    'a site volume on a node whose pods are stopped, from its insertion to PASS, compared with nmstatectl apply and the start of the kubelet, until a new pod runs; the agent with plain Node, running a script of one line',
  deadlineMs: 2 * LAB_MS,
  async run(signal, context) {
    await expectLab();
    await runLab(FACTORY_SCENARIO, signal, context);
    const measured = await readRelocateBesideBare(
      await runLab('relocate-beside-bare', signal, context),
    );
    await removeFactoryNode('containers');
    return {
      rows: relocateRows(measured),
      versions: { kubernetes: KUBERNETES_VERSION, node: process.versions.node },
    };
  },
};

export function relocateRows({ ours, bare, nodeMiB }: RelocateBesideBare): Row[] {
  const passed = ours.map((each) => each.passed);
  return [
    compare(
      {
        what: 'insertion to PASS',
        unit: 's',
        note: `ours copies the database, changes the domain, and waits until nothing has changed for ${WINDOW_SECONDS} s; the goal is at most ${GOAL.ratio} x`,
      },
      passed,
      bare,
    ),
    compare(
      {
        what: 'of it, without the last wait',
        unit: 's',
        note: 'until everything runs that has to stay so',
      },
      ours.map((each) => each.passed - each.settling),
      bare,
    ),
    compare(
      { what: 'peak memory', unit: 'MiB', note: `the goal is at most ${GOAL.memory} x` },
      ours.map(({ peakMiB }) => peakMiB),
      nodeMiB,
    ),
  ];
}
