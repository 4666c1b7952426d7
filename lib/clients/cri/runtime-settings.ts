import { z } from 'zod';
import { parseJson } from '../../base/json.ts';

export interface RuntimeSettings {
  /** The image of every pod sandbox, if the runtime reports it. */
  sandboxImage?: string;
  cgroupDriver?: 'systemd' | 'cgroupfs';
  /** The folders in which it looks for network plugins, if it reports them. */
  pluginFolders?: readonly string[];
}

/** The parts of containerd's `config` in a verbose status (internal/cri/config of containerd 1.6 to 2.1). */
const containerdConfig = z.object({
  sandboxImage: z.string().optional(),
  systemdCgroup: z.boolean().optional(),
  // binDirs since 2.1.
  cni: z
    .object({ binDir: z.string().optional(), binDirs: z.array(z.string()).nullish() })
    .optional(),
  containerd: z
    .object({
      defaultRuntimeName: z.string().default('runc'),
      runtimes: z
        .record(
          z.string(),
          z.object({ options: z.object({ SystemdCgroup: z.boolean().optional() }).nullish() }),
        )
        .default({}),
    })
    .optional(),
});

/**
 * The runtime's settings, from the `config` text of its verbose status: containerd's JSON, or CRI-O's
 * TOML, of which only the folders are read, since it answers RuntimeConfig.
 */
export function parseRuntimeSettings(config: string | undefined): RuntimeSettings {
  const parsed = containerdConfig.safeParse(parseJson(config ?? ''));
  if (!parsed.success) return crioSettings(config ?? '');
  const { sandboxImage = '', systemdCgroup, containerd, cni } = parsed.data;
  const options = containerd?.runtimes[containerd.defaultRuntimeName]?.options;
  const systemd = options?.SystemdCgroup ?? systemdCgroup ?? false;
  const pluginFolders = cni?.binDirs ?? [cni?.binDir ?? ''];
  return {
    ...(pluginFolders.every((folder) => folder === '') ? {} : { pluginFolders }),
    ...(sandboxImage === '' ? {} : { sandboxImage }),
    ...(containerd === undefined ? {} : { cgroupDriver: systemd ? 'systemd' : 'cgroupfs' }),
  };
}

/** `plugin_dirs`, as CRI-O prints its configuration. */
function crioSettings(config: string): RuntimeSettings {
  const [, list = ''] = /^\s*plugin_dirs = \[([^\]]*)\]/m.exec(config) ?? [];
  const pluginFolders = Array.from(list.matchAll(/"([^"]+)"/g), ([, folder = '']) => folder);
  return pluginFolders.length === 0 ? {} : { pluginFolders };
}
