/** A host's own folder, in this bundle or in the earlier one inside it. */
const HOST_FOLDER = /^(?:log-bundle-bootstrap\/)?(?:(?:bootstrap|control-plane\/[^/]+)\/)?/;

/** Below a host's folder, or at the root of the bundle. */
const READ = [
  /^(?:systemd|network|disks|proc|static-pods|kubelet|etcd|agents|certificates|services|steps|journals)\//,
  /^containers\/(?:[^/]+\.json$|[^/]+\.inspect$|tails\/)/,
  /^resources\/(?!pod-logs\/)/,
  /^os-release\.txt$/,
];

/**
 * Whether the analysis may read this file of a bundle. Everything else (whole journals, logs of
 * pods) can be large and is skipped.
 */
export const isReportInput = (path: string): boolean =>
  !path.endsWith('.gz') && READ.some((pattern) => pattern.test(path.replace(HOST_FOLDER, '')));
