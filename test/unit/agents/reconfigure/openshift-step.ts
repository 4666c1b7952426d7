import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import type { ReconfigureContext } from '../../../../agents/reconfigure/context.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { parseSiteConfig } from '../../../../lib/config/site-config/read.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import type { FakeApi } from '../../clients/kube/fake-api.ts';
import { authorityCredentials } from '../../relocation/site-volume/volumes.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

interface Given {
  readonly former: { readonly clusterName: string; readonly baseDomain: string };
  /** The text of site-config.yaml. */
  readonly site: string;
  /** YAML, of the volume. */
  readonly manifests?: string;
  readonly settings?: HostOptions['settings'];
  /** Of an earlier call: the same attempt goes on, in another process. */
  readonly host?: TestHost;
}

/** What the steps of a site's objects need of their context. */
export type SiteStepContext = Pick<
  ReconfigureContext,
  | 'paths'
  | 'settings'
  | 'cluster'
  | 'request'
  | 'site'
  | 'credentials'
  | 'manifests'
  | 'hostname'
  | 'bootTime'
  | 'withAdministrator'
>;

const NODE = 'edge-0';
/** One volume for all steps of a test. */
const credentials = authorityCredentials(new Date());

/** The context of a step whose host is a folder and whose API is that of the client. */
export async function siteContext(
  t: Test,
  client: KubeClient,
  { former, site, manifests = '', settings = {}, host = siteHost(t, settings) }: Given,
) {
  const context: SiteStepContext = {
    ...host.context,
    credentials: await credentials,
    manifests: decodeManifests('extra', manifests).manifests,
    bootTime: async () => new Date(0),
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
  return { host, context, said: host.lines };
}

function siteHost(t: Test, settings: HostOptions['settings']): TestHost {
  const host = testHost(t, {
    cluster: { controlPlane: 'openshift' },
    hostname: NODE,
    ...(settings === undefined ? {} : { settings }),
  });
  host.programs.give('systemctl', 'true');
  return host;
}

/** A step on a cluster; `said` is what it has logged. */
export async function stepOn(
  t: Test,
  step: Pick<StepBody<SiteStepContext>, 'run' | 'holds'>,
  client: KubeClient,
  given: Given,
) {
  const { host, context, said } = await siteContext(t, client, given);
  return {
    said,
    host,
    context,
    progress: () => host.progress(),
    run: () => step.run(context, host.progress()),
    holds: () => step.holds(context, host.progress()),
  };
}

/** Tells `run` to stop at its first request, at its second and so on, until it ends: it gives up that one, and says why. */
export async function stoppedAtEachRequest(
  t: Test,
  api: FakeApi,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<number> {
  const reason = new Error('told to stop');
  let stop = new AbortController();
  let left = 0;
  api.rule(async () => {
    left -= 1;
    if (left !== 0) return undefined;
    stop.abort(reason);
    await nextTurn();
    return 'cut';
  });
  for (let at = 1; ; at++) {
    stop = new AbortController();
    left = at;
    const error = await run(stop.signal).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!stop.signal.aborted) {
      left = 0;
      t.equal(error, undefined, 'it ends');
      return at - 1;
    }
    t.equal(error, reason, `at request ${at}`);
  }
}
