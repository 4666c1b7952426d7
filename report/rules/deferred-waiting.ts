import type { Found, Rule } from '../bundle-view.ts';
import { reportedObjects } from '../reading/objects.ts';
import { at } from '../reading/values.ts';
import { plural, some } from '../reading/words.ts';

const STATES: readonly {
  start: RegExp;
  severity: Found['severity'];
  what: string;
  todo: string;
}[] = [
  {
    start: /^rejected/,
    severity: 'failing',
    what: 'rejected',
    todo: 'Apply a corrected object yourself, or delete its file in /etc/sno-agents/deferred. Then run "systemctl start sno-deferred".',
  },
  {
    start: /^expired/,
    severity: 'failing',
    what: 'not applied in time',
    todo: 'Install what serves its kind, then run "/var/lib/sno-agents/bin/sno-deferred run --expires-in-hours 24".',
  },
  {
    start: /^waiting/,
    severity: 'note',
    what: 'waiting',
    todo: 'Install the operator that provides the kind. The object is then applied automatically.',
  },
];

/** The ConfigMap kube-system/sno-deferred has a line for each deferred manifest (agents/post-reboot/deferred). */
export const deferredWaiting: Rule = {
  name: 'deferred-waiting',
  looksFor:
    'manifests whose kind is not served yet, or that were rejected or expired, from the ConfigMap kube-system/sno-deferred',
  todo: 'Install the operator that provides the kind. Correct or give up what was rejected.',
  find(view) {
    const [status] = reportedObjects(view, 'configmaps').filter(
      ({ name, namespace }) => name === 'sno-deferred' && namespace === 'kube-system',
    );
    const data = at(status?.raw, 'data');
    if (status === undefined || typeof data !== 'object' || data === null) return [];
    const entries = Object.entries(data).map(([key, state]) => ({ key, state: String(state) }));
    return STATES.flatMap(({ start, severity, what, todo }) => {
      const found = entries.filter(({ state }) => start.test(state));
      if (found.length === 0) return [];
      return [
        {
          severity,
          title: `${plural(found.length, 'deferred manifest is', 'deferred manifests are')} ${what}: ${some(found.map(({ key, state }) => `${key} (${state})`))}`,
          evidence: status.evidence(),
          todo,
        },
      ];
    });
  },
};
