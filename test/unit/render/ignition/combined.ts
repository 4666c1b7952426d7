import { combine } from '../../../../lib/render/ignition/combine.ts';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';

export const OURS = 'the bootstrap';
export const MASTER = 'https://api-int.example.com:22623/config/master';

/** bootkube's result for its own config, the server's, and the one that must win over both. */
export function combined(
  ours: IgnitionConfig,
  master: IgnitionConfig,
  mustWin?: IgnitionConfig,
  targetSpec = '3.4.0',
) {
  return combine({
    ours: { origin: OURS, config: ours },
    master: { origin: MASTER, config: master },
    ...(mustWin === undefined ? {} : { mustWin: { origin: 'what must win', config: mustWin } }),
    targetSpec,
  });
}
