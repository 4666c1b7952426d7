import t from 'tap';
import {
  type OperatorState,
  staticPodOperators,
} from '../../../../lib/cluster/openshift/operators.ts';
import { whyNotSettled, whyNotTakenOver } from '../../../../lib/cluster/openshift/take-over.ts';
import { BEFORE_BOOT, BOOT, NODE, operatorState, staticPod } from './states.ts';

const node = { nodeName: NODE, bootTime: BOOT };
const [etcd] = staticPodOperators;
const podOf = (revision?: number, more: object = {}) => [staticPod('etcd', revision, more)];

/** `false`: it has been taken over; otherwise why not. `settled`: why its newest does not run. */
const cases: [
  title: string,
  state: OperatorState | undefined,
  pods: ReturnType<typeof podOf>,
  takenOver: string | false,
  settled?: string | false,
][] = [
  ['no configuration', undefined, [], 'etcd: its operator has not started'],
  ['no node', operatorState(1, 'no node'), [], 'etcd: its operator does not know the node'],
  ['nothing yet', operatorState(0), [], "etcd: the bootstrap's pod runs, there is no revision yet"],
  [
    'the first revision is to come',
    operatorState(1),
    podOf(1),
    "etcd: the bootstrap's pod runs, revision 1 is to come",
  ],
  [
    'the first revision is being installed',
    operatorState(1, { targetRevision: 1 }),
    [],
    "etcd: the bootstrap's pod runs, revision 1 is being installed",
  ],
  [
    'the first revision failed',
    operatorState(1, {
      lastFailedRevision: 1,
      lastFailedRevisionErrors: ['no such image', 'another'],
    }),
    [],
    "etcd: the bootstrap's pod runs, revision 1 is to come, revision 1 failed: no such image",
  ],
  [
    'a controller of it fails',
    operatorState(
      1,
      { targetRevision: 1 },
      {
        conditions: [
          { type: 'NodeDegraded', status: 'False' },
          { type: 'InstallerDegraded', status: 'True', message: 'forbidden' },
        ],
      },
    ),
    [],
    "etcd: the bootstrap's pod runs, revision 1 is being installed, InstallerDegraded: forbidden",
  ],
  [
    'its pod is not shown',
    operatorState(1, { currentRevision: 1 }),
    [],
    'etcd revision 1: its pod does not exist',
  ],
  [
    'its pod is of an older revision',
    operatorState(2, { currentRevision: 2 }),
    podOf(1),
    'etcd revision 2: its pod has revision 1',
  ],
  [
    'the pod of that name is of nobody',
    operatorState(1, { currentRevision: 1 }),
    podOf(),
    'etcd revision 1: its pod has revision none',
  ],
  [
    'its pod is not ready',
    operatorState(1, { currentRevision: 1 }),
    podOf(1, { status: { conditions: [{ type: 'Ready', status: 'False', message: 'starting' }] } }),
    'etcd revision 1: its pod is not ready: starting',
  ],
  [
    'its pod is from before the boot',
    operatorState(1, { currentRevision: 1 }),
    podOf(1, {
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [
          { name: 'etcd', restartCount: 0, state: { running: { startedAt: BEFORE_BOOT } } },
        ],
      },
    }),
    'etcd revision 1: container etcd has not started since this boot',
  ],
  ['it runs', operatorState(1, { currentRevision: 1 }), podOf(1), false, false],
  [
    'it runs, and a newer one is to come',
    operatorState(3, { currentRevision: 2 }),
    podOf(2),
    false,
    'etcd: revision 2 runs, revision 3 is to come',
  ],
  [
    'it runs, and a newer one is being installed',
    operatorState(3, { currentRevision: 2, targetRevision: 3 }),
    podOf(2),
    false,
    'etcd: revision 2 runs, revision 3 is being installed',
  ],
  [
    'it runs, and an earlier one has failed',
    operatorState(3, { currentRevision: 3, lastFailedRevision: 2 }),
    podOf(3),
    false,
    false,
  ],
];

for (const [title, state, pods, takenOver, settled = takenOver] of cases) {
  t.test(`an operator: ${title}`, async (t) => {
    t.ok(etcd);
    if (etcd === undefined) return;
    const view = { operator: etcd, state, pods };
    t.equal(whyNotTakenOver(view, node) ?? false, takenOver);
    t.equal(whyNotSettled(view, node) ?? false, settled);
  });
}

t.test('the state of another node does not count', async (t) => {
  if (etcd === undefined) return;
  const state = operatorState(1, { nodeName: 'edge-1', currentRevision: 1 });
  t.match(whyNotTakenOver({ operator: etcd, state, pods: podOf(1) }, node), /know the node/);
});
