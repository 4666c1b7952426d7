import type { SiteFile } from './site-files.ts';

/** How long the kubelet may take at a shutdown to end the pods, workloads first. */
export const SHUTDOWN_SECONDS = { all: 60, criticalPods: 30 } as const;

/**
 * logind waits for the kubelet this long. The kubelet would set this, but only once, when it starts;
 * if logind has not read its file by then, pods are killed at the next shutdown
 * (nodeshutdown_manager_linux.go, start).
 */
export const shutdownFiles: readonly SiteFile[] = [
  {
    path: '/etc/systemd/logind.conf.d/50-sno-shutdown.conf',
    mode: 0o644,
    contents: `[Login]\nInhibitDelayMaxSec=${SHUTDOWN_SECONDS.all}\n`,
  },
];
