import type { Rule } from '../bundle-view.ts';
import { FREE_SPACE } from '../reading/etcd-advice.ts';
import { hostFiles } from '../reading/hosts.ts';
import { gauge } from '../reading/metrics.ts';
import { bytes, percent } from '../reading/words.ts';

/** At the full quota etcd raises NOSPACE; its own alert etcdDatabaseQuotaLowSpace warns at 95 %, which is late for a remote host. */
const QUOTA_SHARE = 0.8;

export const etcdDbLarge: Rule = {
  name: 'etcd-db-large',
  looksFor:
    'an etcd database above 80 % of its quota (etcd_mvcc_db_total_size_in_bytes, etcd_server_quota_backend_bytes)',
  todo: `Find out what fills it (events, CSRs, large ConfigMaps: "kubectl get --raw /metrics | grep apiserver_storage_objects") and delete it, then free its space. ${FREE_SPACE}`,
  find(view) {
    return hostFiles(view, 'etcd/metrics.txt').flatMap((path) => {
      const size = gauge(view, path, 'etcd_mvcc_db_total_size_in_bytes');
      const quota = gauge(view, path, 'etcd_server_quota_backend_bytes');
      if (size === undefined || quota === undefined || quota.value <= 0) return [];
      const share = size.value / quota.value;
      if (share < QUOTA_SHARE) return [];
      return [
        {
          severity: 'warning',
          title: `etcd's database has ${bytes(size.value)}, ${percent(share)} of its quota`,
          evidence: [size.evidence, quota.evidence],
        },
      ];
    });
  },
};
