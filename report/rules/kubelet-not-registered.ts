import type { Rule } from '../bundle-view.ts';
import { hostFiles, installedHosts } from '../reading/hosts.ts';
import { isRecent, lastLike } from '../reading/journal.ts';
import { hasObjects, reportedObjects } from '../reading/objects.ts';
import { unitsOf } from '../reading/units.ts';
import { duration } from '../reading/words.ts';

/** With a working API the kubelet registers within seconds; the margin is for slow hosts. */
const GRACE_MS = 3 * 60_000;
const FAILED =
  /Unable to register node|Failed to contact API server|no client certificate|Unauthorized|is forbidden: User "system:anonymous"/;

export const kubeletNotRegistered: Rule = {
  name: 'kubelet-not-registered',
  looksFor:
    'an installed host whose kubelet has been running for 3 minutes while the API has no Node',
  todo: 'Read the last error in journals/kubelet.log. "Unauthorized" points to its client certificate (/var/lib/kubelet/pki/kubelet-client-current.pem, or a pending request), "forbidden" to its name, a refused connection to the API server.',
  find(view) {
    if (!hasObjects(view, 'nodes') || reportedObjects(view, 'nodes').length > 0) return [];
    return installedHosts(view).flatMap((host) => {
      const kubelet = unitsOf(view, host).get('kubelet.service');
      const sinceMs = kubelet?.sinceMs;
      if (kubelet?.active !== 'active' || sinceMs === undefined) return [];
      if (view.atMs - sinceMs < GRACE_MS) return [];
      const said = hostFiles(view, 'journals/kubelet.log')
        .flatMap((path) => lastLike(view, path, FAILED, 2))
        .filter((line) => isRecent(line, view));
      return [
        {
          severity: 'failing',
          title: `The kubelet has been running for ${duration(view.atMs - sinceMs)}, but the API has no Node`,
          sinceMs,
          evidence: [...said.map(({ evidence }) => evidence), ...kubelet.evidence],
        },
      ];
    });
  },
};
