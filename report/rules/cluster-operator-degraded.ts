import type { Rule } from '../bundle-view.ts';
import { conditionOf, reportedObjects } from '../reading/objects.ts';

/** OpenShift only: the ClusterOperators' conditions (github.com/openshift/api, config/v1). */
export const clusterOperatorDegraded: Rule = {
  name: 'cluster-operator-degraded',
  looksFor:
    "OpenShift's ClusterOperators that are degraded or not available; only a warning while the ClusterVersion has never been available",
  todo: 'Look at the pods or objects that its message names: "oc describe clusteroperator NAME".',
  find(view) {
    const isInstalled = reportedObjects(view, 'clusterversion').some(
      (version) => conditionOf(version, 'Available')?.status === 'True',
    );
    return reportedObjects(view, 'clusteroperators').flatMap((operator) => {
      const [available, degraded] = [
        conditionOf(operator, 'Available'),
        conditionOf(operator, 'Degraded'),
      ];
      const bad =
        available?.status === 'False'
          ? available
          : degraded?.status === 'True'
            ? degraded
            : undefined;
      if (bad === undefined) return [];
      return [
        {
          severity: isInstalled ? 'failing' : 'warning',
          title: `The cluster operator ${operator.name} is ${bad === available ? 'not available' : 'degraded'}: ${bad.message || bad.reason}`,
          sinceMs: bad.sinceMs,
          evidence: operator.evidence(),
          todo: this.todo.replace('NAME', operator.name),
        },
      ];
    });
  },
};
