import { join } from 'node:path';
import { recordPath } from '../../engine/agents/records.ts';
import type { HostPaths } from '../../host/paths.ts';

type State = Pick<HostPaths, 'state'>;

/** Everything that the command keeps on the host. */
export const reconfigureFolder = ({ state }: State) => join(state, 'reconfigure');

/** Serials and digests of the volumes that this host has used. */
export const usedPath = (paths: State) => recordPath(paths, 'reconfigure-volumes');
/** The verified files of the volume: it may be pulled out. */
export const siteFolder = (paths: State) => join(reconfigureFolder(paths), 'site');
/** What the host had before, until it is committed. */
export const beforeFolder = (paths: State) => join(reconfigureFolder(paths), 'before');
/** Files of the site that may not be in use yet. */
export const unreadPath = (paths: State) => join(reconfigureFolder(paths), 'unread.json');
/** Of age: who may read in detail how the last encrypted volume went. */
export const resultRecipientPath = (paths: State) =>
  join(reconfigureFolder(paths), 'result-recipient.txt');
/** Made for the certificate request of an administrator. */
export const kubeconfigPath = (paths: State) => join(reconfigureFolder(paths), 'admin.kubeconfig');

/** What was in the drives when this boot began: names in /run end with the boot. */
export const seenPath = ({ run }: Pick<HostPaths, 'run'>) => join(run, 'reconfigure', 'seen.json');
/** When a sealed host has asked its factory's URL in this boot, and what came of it. */
export const askedPath = ({ run }: Pick<HostPaths, 'run'>) =>
  join(run, 'reconfigure', 'asked.json');
/** What is being fetched from there. */
export const askingPath = ({ run }: Pick<HostPaths, 'run'>) =>
  join(run, 'reconfigure', 'asking.iso');
/** What it was given, until it is read. */
export const fetchedPath = ({ run }: Pick<HostPaths, 'run'>) =>
  join(run, 'reconfigure', 'fetched.iso');
/** Copies of media until they are judged. */
export const mediumFolder = ({ run }: Pick<HostPaths, 'run'>) => join(run, 'reconfigure', 'medium');
/** Of the tool that verifies. */
export const workFolder = ({ run }: Pick<HostPaths, 'run'>) => join(run, 'reconfigure', 'work');
