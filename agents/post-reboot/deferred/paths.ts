import { join } from 'node:path';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { deferredAgent } from '../../../units/installed.ts';

/** The agent's own state: its journal, and its expiry if somebody has set one. */
export const deferredState = ({ state }: HostPaths) => join(state, deferredAgent);
