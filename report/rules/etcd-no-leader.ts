import type { Rule } from '../bundle-view.ts';
import { RESTORE } from '../reading/etcd-advice.ts';
import { hostFiles } from '../reading/hosts.ts';
import { gauge } from '../reading/metrics.ts';

export const etcdNoLeader: Rule = {
  name: 'etcd-no-leader',
  looksFor:
    'an etcd that answers but has no leader (etcd_server_has_leader is 0), so it serves no requests',
  todo: `Read etcd's log. A single member elects itself unless its data names other members or its disk stalls; see disk-slow. If its data is damaged: ${RESTORE}`,
  find(view) {
    return hostFiles(view, 'etcd/metrics.txt').flatMap((path) => {
      const leader = gauge(view, path, 'etcd_server_has_leader');
      if (leader === undefined || leader.value !== 0) return [];
      return [{ severity: 'failing', title: 'etcd has no leader', evidence: [leader.evidence] }];
    });
  },
};
