import type { HostPaths } from '../../../lib/host/paths.ts';
import {
  type ControlPlaneRights,
  type HostContext,
  hostContext,
} from '../../steps/host-context.ts';

/** The host without its rights: what it needs of the API is signed in memory. */
export type ApproveContext = Omit<HostContext, keyof ControlPlaneRights>;

/** @throws Failure (usage) if cluster.json or settings.json is invalid. */
export async function approveContext(paths: HostPaths): Promise<ApproveContext> {
  return hostContext(paths);
}
