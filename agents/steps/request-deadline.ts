/** Maximum duration of one request to a server of this host; the step is retried after that. */
export const REQUEST_DEADLINE_MS = 30_000;
