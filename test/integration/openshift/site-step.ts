import type { ReconfigureContext } from '../../../agents/node/reconfigure/context.ts';
import type { KubeClient } from '../../../lib/kube/client.ts';
import { createLogger } from '../../../lib/log/logger.ts';
import { parseSiteConfig } from '../../../lib/site-config/read.ts';
import { Progress } from '../../../lib/steps/progress.ts';
import type { StepBody } from '../../../lib/steps/within.ts';

interface Given {
  readonly former: { readonly clusterName: string; readonly baseDomain: string };
  /** The text of site-config.yaml. */
  readonly site: string;
}

type StepContext = Pick<ReconfigureContext, 'request' | 'site' | 'withAdministrator'>;

/** A step on a cluster without a host; `said` is what it has logged. */
export function stepOn(step: StepBody<StepContext>, client: KubeClient, { former, site }: Given) {
  const context: StepContext = {
    request: {
      schemaVersion: 1,
      id: '00000000-0000-4000-8000-000000000000',
      at: '2026-01-01T00:00:00Z',
      volume: { serial: 1, sha256: '' },
      from: { ...former, hostname: 'edge-0', nodeIps: ['192.0.2.10'], machineNetwork: [] },
    },
    site: parseSiteConfig(site, 'site-config.yaml', { files: new Map(), now: new Date() }),
    withAdministrator: (_limits, use) => use(client),
  };
  const said: string[] = [];
  const log = createLogger({ write: (line) => void said.push(line), priorities: false });
  const progress = () =>
    new Progress(AbortSignal.timeout(60_000), performance.now() + 60_000, log, {
      waiting: () => true,
    });
  return {
    said,
    run: () => step.run(context, progress()),
    holds: () => step.holds(context, progress()),
  };
}
