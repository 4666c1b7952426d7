import { unitProperties } from '../../../lib/host/systemd.ts';
import { bad, type Check, good } from './check.ts';

const UNIT = 'sno-network.service';

/** Whether the site's network configuration was applied. First, since most other checks depend on it. */
export const networkCheck: Check = {
  name: 'network',
  code: 'preflight-network',
  run: async ({ cluster, signal }) => {
    if (cluster.networkConfig === undefined) {
      return good('the network is configured by the operating system');
    }
    const { ActiveState, Result } = await unitProperties(UNIT, ['ActiveState', 'Result'], signal);
    if (ActiveState === 'active') return good('networkConfig was applied');
    if (ActiveState === 'activating' && Result === 'success') {
      return bad('networkConfig is still being applied', `Wait, or see "journalctl -u ${UNIT}".`);
    }
    return bad(
      `networkConfig was not applied: ${UNIT} is ${ActiveState} (${Result})`,
      `See "journalctl -u ${UNIT}", correct bootstrapInPlace.networkConfig in install-config.yaml and create the live Ignition config again.`,
    );
  },
};
