import t from 'tap';
import { controlPlaneNode, ingressPlacement } from '../../../../lib/config/topology/kubernetes.ts';
import { rowFor } from '../../../../lib/config/topology/row-for.ts';

const label = 'node-role.kubernetes.io/control-plane';
const taint = { key: label, effect: 'NoSchedule' };
const pinned = {
  replicas: 1,
  nodeSelector: { 'kubernetes.io/os': 'linux', [label]: '' },
  tolerations: [{ key: label, operator: 'Exists', effect: 'NoSchedule' }],
};
const free = { replicas: 2, nodeSelector: { 'kubernetes.io/os': 'linux' }, tolerations: [] };

const ROW_BY_ROW = [
  ['none', 0, 0, [], pinned],
  ['cloud', 0, 0, [], pinned],
  ['none', 1, 0, [taint], pinned],
  ['cloud', 1, 0, [], free],
  ['none', 2, 0, [taint], pinned],
  ['cloud', 2, 0, [taint], free],
  ['none', 0, 1, [], pinned],
  ['cloud', 0, 1, [], pinned],
] as const;

for (const [platform, compute, laterWorkers, taints, placement] of ROW_BY_ROW) {
  t.test(`${compute} and ${laterWorkers} workers on ${platform}`, async (t) => {
    const row = rowFor({ platform, compute, laterWorkers });
    t.same(controlPlaneNode(row), { labels: { [label]: '' }, taints });
    t.same(ingressPlacement(row), placement);
  });
}
