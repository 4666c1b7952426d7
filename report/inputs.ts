/** A host's own folder, in this bundle or in an earlier one inside it. */
const HOST_FOLDER = /^(?:log-bundle-bootstrap\/)?(?:(?:bootstrap|control-plane\/[^/]+)\/)?/;

/** Relative to a host's folder or to the root of the bundle. */
const READ = [
  /^(?:systemd|network|disks|proc|static-pods|kubelet|etcd|agents|certificates|services|steps|journals)\//,
  /^containers\/(?:[^/]+\.json$|[^/]+\.inspect$|tails\/)/,
  /^resources\/(?!pod-logs\/)/,
  /^os-release\.txt$/,
];

/**
 * Whether the analysis reads this file of a bundle. All others (whole journals, pod logs) can be
 * large and are skipped.
 */
export const isReportInput = (path: string): boolean =>
  !path.endsWith('.gz') && READ.some((pattern) => pattern.test(path.replace(HOST_FOLDER, '')));
