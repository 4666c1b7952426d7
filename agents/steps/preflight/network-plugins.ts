import { join, normalize } from 'node:path';
import { connectHostRuntime, runningSocket } from '../../../lib/clients/cri/runtime.ts';
import { exists } from '../../../lib/host/files.ts';
import { usedPlugins } from '../../../lib/payload/required.ts';
import { REQUEST_DEADLINE_MS } from '../request-deadline.ts';
import { bad, type Check, good, type PreflightFinding } from './check.ts';

/**
 * The runtime of a distribution may look for network plugins in a folder of its own, such as
 * /usr/libexec/cni, and not where those of the payload are installed. Then no pod would start, an hour
 * later. A live host has the runtime of the system that is installed.
 */
export const networkPluginsCheck: Check = {
  name: 'network-plugins',
  code: 'preflight-network-plugins',
  run: async ({ paths, signal }) => {
    if (runningSocket(paths) === undefined) return good('no container runtime runs yet');
    using runtime = connectHostRuntime(paths);
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    const { pluginFolders } = await runtime.status(limits);
    if (pluginFolders === undefined)
      return good('the container runtime does not report its folders');
    const own = await Promise.all(
      pluginFolders.map(async (folder) => {
        const found = await Promise.all(
          usedPlugins.map((name) => exists(paths.at(join(folder, name)))),
        );
        return usedPlugins.filter((_, index) => found[index]);
      }),
    );
    return judgePluginFolders(pluginFolders, new Set(own.flat()), '/opt/cni/bin');
  },
};

/** `installed`: the folder of the payload's plugins; `own`: those that the system has. */
export function judgePluginFolders(
  folders: readonly string[],
  own: ReadonlySet<string>,
  installed: string,
): PreflightFinding {
  const listed = folders.join(', ');
  if (folders.some((folder) => normalize(`${folder}/`) === normalize(`${installed}/`))) {
    return good(`network plugins are found in ${listed}`);
  }
  const missing = usedPlugins.filter((name) => !own.has(name));
  if (missing.length === 0) return good(`the operating system has network plugins in ${listed}`);
  return bad(
    `the container runtime looks for network plugins in ${listed}, where ${missing.join(', ')} are missing`,
    `Add ${installed} to its configuration (bin_dir or bin_dirs of containerd, plugin_dirs of CRI-O): the payload's plugins are installed there.`,
  );
}
