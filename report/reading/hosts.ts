import type { BundleView } from '../bundle-view.ts';

/** A host whose current state is in the bundle. */
export interface BundleHost {
  /** Path prefix of its files: `bootstrap/`, `control-plane/master/`, or empty. */
  readonly folder: string;
  readonly stage: 'live' | 'installed';
}

const OWN_FOLDER = /^(bootstrap|control-plane\/[^/]+)\//;
const AT_ROOT = /^(systemd|journals|network|disks|proc|steps|agents)\//;
/** Files that only the live stage of an installation has. */
const LIVE_AT_ROOT = /^steps\/(bootkube|install-to-disk)\.jsonl$/;

/** Folder of an earlier bundle: past state, not current state. */
export const EARLIER = 'log-bundle-bootstrap/';

/** The hosts of the bundle, without those of an earlier bundle inside it. */
export function hostsIn(view: BundleView): BundleHost[] {
  const paths = view.paths();
  const folders = new Set(paths.map((path) => OWN_FOLDER.exec(path)?.[0]));
  const hosts: BundleHost[] = [...folders]
    .filter((folder) => folder !== undefined)
    .map((folder) => ({ folder, stage: folder === 'bootstrap/' ? 'live' : 'installed' }));
  if (paths.some((path) => AT_ROOT.test(path))) {
    const isLive = paths.some((path) => LIVE_AT_ROOT.test(path));
    hosts.push({ folder: '', stage: isLive ? 'live' : 'installed' });
  }
  return hosts;
}

/** A file of each host that has it, such as `disks/df.json`. */
export function hostFiles(view: BundleView, name: string): string[] {
  const paths = new Set(view.paths());
  return hostsIn(view)
    .map(({ folder }) => `${folder}${name}`)
    .filter((path) => paths.has(path));
}

/** The files of each host below a folder, such as `journals/`. */
export function hostFilesIn(view: BundleView, folder: string): string[] {
  const folders = hostsIn(view).map((host) => `${host.folder}${folder}`);
  return view.paths().filter((path) => folders.some((start) => path.startsWith(start)));
}

/** The logs of containers of this name. */
export const containerLogs = (view: BundleView, name: string): string[] =>
  hostFilesIn(view, 'containers/').filter((path) => new RegExp(`/${name}-[^/]*\\.log$`).test(path));

export const installedHosts = (view: BundleView): BundleHost[] =>
  hostsIn(view).filter(({ stage }) => stage === 'installed');

export const hasInstalledHost = (view: BundleView): boolean => installedHosts(view).length > 0;
