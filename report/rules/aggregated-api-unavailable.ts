import type { Rule } from '../bundle-view.ts';
import { hasInstalledHost } from '../reading/hosts.ts';
import { conditionOf, reportedObjects } from '../reading/objects.ts';
import { textAt } from '../reading/values.ts';

const GRACE_MS = 3 * 60_000;

export const aggregatedApiUnavailable: Rule = {
  name: 'aggregated-api-unavailable',
  looksFor:
    'APIServices that have been unavailable for 3 minutes: discovery fails for their group, and namespaces stay in Terminating',
  todo: 'Look at the pods behind the service of the APIService. Delete an APIService whose server no longer exists.',
  find(view) {
    // On the live host of an installation, the pods behind them are not running yet.
    if (!hasInstalledHost(view)) return [];
    return reportedObjects(view, 'apiservices').flatMap((service) => {
      const available = conditionOf(service, 'Available');
      if (available?.status !== 'False') return [];
      const isNew = view.atMs - (available.sinceMs ?? 0) < GRACE_MS;
      const backend = textAt(service.raw, 'spec', 'service', 'name');
      const behind =
        backend === undefined
          ? ''
          : ` (served by ${textAt(service.raw, 'spec', 'service', 'namespace') ?? ''}/${backend})`;
      return [
        {
          severity: isNew ? 'warning' : 'failing',
          title: `The API ${service.name}${behind} is not available: ${available.message || available.reason}`,
          sinceMs: available.sinceMs,
          evidence: service.evidence(),
        },
      ];
    });
  },
};
