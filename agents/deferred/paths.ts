import { join } from 'node:path';
import { DEFERRED_AGENT } from '../../lib/agents/table.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** The agent's own state: its journal, and its expiry if one was set. */
export const deferredState = ({ state }: HostPaths) => join(state, DEFERRED_AGENT);
