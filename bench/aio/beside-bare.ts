import { type BesideBare, readBesideBare } from '../../lab/bare/index.ts';
import type { BenchContext, Row } from '../benchmark.ts';
import { runLab } from '../lab-run.ts';
import { compare } from '../statistics.ts';

/** Of the components when bare units start them. */
const GOAL_RATIO = 1.2;

const goal = `the goal is at most ${GOAL_RATIO} x`;

/** The first boot of an all-in-one host and a restart of its API server, compared with bare units. */
export async function measureBesideBare(
  signal: AbortSignal,
  context: Pick<BenchContext, 'report'>,
): Promise<Row[]> {
  return besideBareRows(await readBesideBare(await runLab('aio-beside-bare', signal, context)));
}

export function besideBareRows({ ours, bare, outages, restores }: BesideBare): Row[] {
  const row = (what: string, note: string, left: readonly number[], right: readonly number[]) =>
    compare({ what, unit: 's', note }, left, right);
  return [
    row(
      'boot to Ready and schedulable',
      `without fetching and unpacking images, which the bare units have; ${goal}`,
      ours.map(({ node, pod, payload }) => Math.max(node, pod) - payload),
      bare.map(({ node, pod }) => Math.max(node, pod)),
    ),
    row(
      'of it, boot to the API server being ready',
      'also without that',
      ours.map(({ api, payload }) => api - payload),
      bare.map(({ api }) => api),
    ),
    row(
      'boot to Ready and schedulable, images included',
      'ours also fetches and unpacks the images; theirs are on the disk',
      ours.map(({ node, pod }) => Math.max(node, pod)),
      bare.map(({ node, pod }) => Math.max(node, pod)),
    ),
    row('API outage of a restart of the API server', goal, outages.ours, outages.bare),
    row(
      'API outage of a restore',
      `theirs: the same database by etcdutl, between stop and start of the units; ${goal}`,
      restores.ours.map(({ outage }) => outage),
      restores.bare.map(({ outage }) => outage),
    ),
    row(
      'restore, from the command until the API is ready for good',
      `ours verifies the backup and rebuilds the database first, while the API answers; ${goal}`,
      restores.ours.map(({ until }) => until),
      restores.bare.map(({ until }) => until),
    ),
  ];
}
