import type { ReconfigureContext } from '../../../agents/node/reconfigure/context.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import type { KubeClient } from '../../../lib/kube/client.ts';
import { decodeManifests } from '../../../lib/kube/manifest-decoding.ts';
import { createLogger } from '../../../lib/log/logger.ts';
import { parseSiteConfig } from '../../../lib/site-config/read.ts';
import { Progress } from '../../../lib/steps/progress.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { authorityCredentials } from '../../unit/site-volume/volumes.ts';

interface Given {
  readonly former: { readonly clusterName: string; readonly baseDomain: string };
  /** The text of site-config.yaml. */
  readonly site: string;
  /** YAML, of the volume. */
  readonly manifests?: string;
  /** The host's root; without it, the step reads no file. */
  readonly root?: string;
}

type StepContext = Pick<
  ReconfigureContext,
  'paths' | 'request' | 'site' | 'credentials' | 'manifests' | 'hostname' | 'withAdministrator'
>;

const NODE = 'edge-0';

/** A step on a cluster without a host; `said` is what it has logged. */
export async function stepOn(
  step: StepBody<StepContext>,
  client: KubeClient,
  { former, site, manifests = '', root = '/nonexistent' }: Given,
) {
  const context: StepContext = {
    paths: hostPaths(root),
    credentials: await authorityCredentials(),
    manifests: decodeManifests('extra', manifests).manifests,
    hostname: () => NODE,
    request: {
      schemaVersion: 1,
      id: '00000000-0000-4000-8000-000000000000',
      at: '2026-01-01T00:00:00Z',
      volume: { serial: 1, sha256: '' },
      from: { ...former, hostname: NODE, nodeIps: ['192.0.2.10'], machineNetwork: [] },
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
    context,
    progress,
    run: () => step.run(context, progress()),
    holds: () => step.holds(context, progress()),
  };
}
