import { z } from 'zod';
import { parseJson } from '../json.ts';

export interface RuntimeSettings {
  /** The image of every pod sandbox, if the runtime reports it. */
  sandboxImage?: string;
  cgroupDriver?: 'systemd' | 'cgroupfs';
}

/** The parts of containerd's `config` in a verbose status (internal/cri/config of containerd 1.6 to 2.1). */
const containerdConfig = z.object({
  sandboxImage: z.string().optional(),
  systemdCgroup: z.boolean().optional(),
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
 * The runtime's settings, from the `config` text of its verbose status. Empty if
 * that is not containerd's JSON (CRI-O prints TOML and answers RuntimeConfig).
 */
export function parseRuntimeSettings(config: string | undefined): RuntimeSettings {
  const parsed = containerdConfig.safeParse(parseJson(config ?? ''));
  if (!parsed.success) return {};
  const { sandboxImage = '', systemdCgroup, containerd } = parsed.data;
  const options = containerd?.runtimes[containerd.defaultRuntimeName]?.options;
  const systemd = options?.SystemdCgroup ?? systemdCgroup ?? false;
  return {
    ...(sandboxImage === '' ? {} : { sandboxImage }),
    ...(containerd === undefined ? {} : { cgroupDriver: systemd ? 'systemd' : 'cgroupfs' }),
  };
}
