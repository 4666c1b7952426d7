import type { CallLimits } from '../../lib/clients/grpc/client.ts';

/** Maximum duration of one request to a server of this host; the step is retried after that. */
export const REQUEST_DEADLINE_MS = 30_000;

/** A request to a server that may still be starting. */
export const onceReady = (signal: AbortSignal): CallLimits => ({
  ...{ signal, deadlineMs: REQUEST_DEADLINE_MS, waitForReady: true },
});
