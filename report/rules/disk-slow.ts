import type { Rule } from '../bundle-view.ts';
import { containerLogs, hostFiles } from '../reading/hosts.ts';
import { linesLike, ofLastDays } from '../reading/journal.ts';
import { quantile } from '../reading/metrics.ts';

/** etcd's FAQ, "What does the etcd warning 'failed to send out heartbeat on time' mean?" */
const LIMITS = [
  { metric: 'etcd_disk_wal_fsync_duration_seconds', what: 'a WAL sync', limitS: 0.01 },
  {
    metric: 'etcd_disk_backend_commit_duration_seconds',
    what: 'a commit to its database',
    limitS: 0.025,
  },
] as const;
const SHARE = 0.99;
/** etcd's election timeout, and the critical level of its alert etcdHighFsyncDurations: by then it has lost its leader. */
const FAILING_S = 1;
/** Fewer samples do not support a statement about 1 %. */
const MIN_COUNT = 100;
/** etcd logs "slow fdatasync" from 1 s (server/storage/wal); a single one is no pattern. */
const MIN_SLOW_LINES = 3;

export const diskSlow: Rule = {
  name: 'disk-slow',
  looksFor:
    'a 99th percentile of etcd\'s WAL syncs above 10 ms or of its commits above 25 ms, from its histograms, and repeated "slow fdatasync" lines',
  todo: 'Put /var/lib/etcd on a dedicated SSD or NVMe disk, or reduce the load on the disk: "systemd-cgtop --order=io" shows who writes, "cat /proc/pressure/io" how much waits for it.',
  find(view) {
    const measured = hostFiles(view, 'etcd/metrics.txt').flatMap((path) =>
      LIMITS.flatMap(({ metric, what, limitS }) => {
        const found = quantile(view, path, metric, SHARE);
        if (found === undefined || found.count < MIN_COUNT || found.seconds <= limitS) return [];
        return [{ ...found, what, limitS }];
      }),
    );
    const slow = ofLastDays(
      containerLogs(view, 'etcd').flatMap((path) => linesLike(view, path, /slow fdatasync/)),
      view,
    );
    if (measured.length === 0 && slow.length < MIN_SLOW_LINES) return [];
    const facts = measured.map(
      ({ what, seconds, limitS }) =>
        `1 % of the time ${what} takes longer than ${Math.round(seconds * 1000)} ms (${limitS * 1000} ms are good)`,
    );
    if (slow.length >= MIN_SLOW_LINES) facts.push(`${slow.length} syncs took more than a second`);
    const isFailing = measured.some(({ seconds }) => seconds >= FAILING_S);
    return [
      {
        severity: isFailing ? 'failing' : 'warning',
        title: `The disk is too slow for etcd: ${facts.join(', ')}`,
        evidence: [
          ...measured.map(({ evidence }) => evidence),
          ...slow.slice(-MIN_SLOW_LINES).map((line) => line.evidence),
        ],
      },
    ];
  },
};
