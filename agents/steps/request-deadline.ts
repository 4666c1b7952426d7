/** The longest that one request to a server of this host may take; its step is tried again after that. */
export const REQUEST_DEADLINE_MS = 30_000;
