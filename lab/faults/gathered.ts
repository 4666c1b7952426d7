import type { AgentName } from '../../lib/engine/agents/table.ts';
import { finishedCluster, gathered } from '../bundle/gathered.ts';
import { layout } from '../bundle/layout.ts';
import { apiDown, apiHanging, diskFull, flooded, runtimeDead } from '../bundle/states.ts';
import { waitForStep } from '../host/wait-for-step.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario, ScenarioStep } from '../scenario.ts';

const { live, installed, earlier } = layout;

/**
 * A log bundle can be made in every state in which someone needs one, within two minutes each:
 * during the bootstrap, between restore and clean-up, on the finished cluster, twice
 * concurrently, while a container floods its log with hostile lines, with the API down or
 * hanging, with the container runtime down and on a full disk.
 */
export const gatheredAnywhere: Scenario = (context) => {
  const run = new Installation(context);
  const { signal } = context;
  const gather = async (
    report: (line: string) => void,
    ...[collecting, expected]: [Parameters<typeof gathered>[1], Parameters<typeof gathered>[2]]
  ) => {
    if (run.host === undefined) throw new Error('no host is running');
    report(`${await gathered(run.host, collecting, expected, context)} s`);
  };
  const until = (agent: AgentName, step: string, event: 'started' | 'done') => {
    if (run.host === undefined) throw new Error('no host is running');
    return waitForStep(run.host, agent, [step, event], signal);
  };
  const installer = (id: string) => ({ command: `installer-gather.sh --id ${id}`, id });
  const steps: ScenarioStep[] = [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    {
      title: 'Gather during the bootstrap',
      run: async (report) => {
        await until('bootkube', 'control-plane', 'done');
        await gather(report, installer('live'), {
          paths: [...live.always, ...live.containers, ...live.etcd],
        });
      },
    },
    { title: 'Bootstrap and write the disk', run: (report) => run.bootstrap(report) },
    { title: 'Look at the disk before its first boot', run: (report) => run.checkDisk(report) },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    {
      title: 'Gather before the clean-up: both stages',
      run: async (report) => {
        await until('post-reboot', 'steady-state', 'started');
        const command = 'installer-master-bootstrap-in-place-gather.sh --id both';
        await gather(
          report,
          { command, id: 'both' },
          { paths: [...finishedCluster.paths, ...earlier] },
        );
      },
    },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    {
      title: 'Gather on the finished cluster, twice at once',
      run: async (report) => {
        await Promise.all([
          gather(report, installer('one'), finishedCluster),
          gather(report, installer('two'), finishedCluster),
        ]);
      },
    },
    {
      title: 'Gather while a container floods its log with hostile lines',
      run: (report) =>
        flooded(run, signal, () =>
          gather(report, installer('flooded'), {
            paths: [...finishedCluster.paths, 'control-plane/master/containers/flood-*.log'],
          }),
        ),
    },
    {
      title: 'Gather with the API down',
      run: (report) =>
        apiDown(run, signal, () =>
          gather(report, installer('api-down'), {
            paths: [...installed.always, ...installed.containers, ...installed.etcd],
            found: ['api-not-answering'],
            besides: ['static-pod-crash-looping'],
          }),
        ),
    },
    {
      title: 'Gather with an API that does not answer',
      run: (report) =>
        apiHanging(run, signal, () =>
          gather(report, installer('api-hangs'), {
            paths: [...installed.always, ...installed.containers],
            found: ['api-not-answering'],
          }),
        ),
    },
    {
      title: 'Gather with a dead container runtime',
      run: (report) =>
        runtimeDead(run, signal, () =>
          gather(report, installer('runtime-dead'), {
            paths: [...installed.always, ...installed.etcd, ...installed.api],
            found: ['container-runtime-down'],
            besides: ['unit-failed', 'node-not-ready'],
          }),
        ),
    },
    {
      title: 'Gather on a full disk',
      run: (report) =>
        diskFull(run, signal, () =>
          gather(
            report,
            {
              ...installer('disk-full'),
              archive: '/run/user/1000/log-bundle-disk-full.tar.gz',
            },
            {
              paths: ['gather.log', 'control-plane/master/disks/df.json'],
              found: ['disk-full'],
              besides: [
                'etcd-alarm',
                'unit-failed',
                'api-not-answering',
                'static-pod-crash-looping',
              ],
            },
          ),
        ),
    },
  ];
  return scenarioOf(run, steps);
};
