import { durationText } from '../../../lib/base/duration.ts';
import { isFailureCode } from '../../../lib/base/errors/codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import type { ReportedChange } from '../../../lib/engine/report/node-report.ts';
import { FIELD_MANAGERS } from '../../../lib/engine/report/site-status.ts';
import { AUTH_FILES } from '../../site/make-volume.ts';
import type { Surroundings } from '../../surroundings.ts';
import type { Hub } from './hub.ts';
import { readKept } from './kept.ts';
import { type HubSite, hubKinds, metadataOf } from './kinds.ts';
import { SiteProgress } from './progress.ts';
import { type Published, withdraw } from './publish.ts';
import { detach } from './virtual-media.ts';

const CHANGE: ReportedChange = 'relocate';

/** What the node said last about this serial; undefined: nothing. */
function reportedOf({ status, spec }: HubSite) {
  const changes = status?.report?.changes ?? [];
  return changes.find(({ change, serial }) => change === CHANGE && serial === spec.serial);
}

/**
 * Waits until the node of a Site has said how it went. If it is done, the administrator's kubeconfig is where Hive's would
 * be, and the volume is taken away.
 *
 * @throws Failure (usage) if nothing was delivered; (fatal) if the node failed; (deadline) if it does not say anything
 */
export async function collectSite(
  hub: Hub,
  site: HubSite,
  {
    place,
    deadlineMs,
    print,
  }: { readonly place: Published; readonly deadlineMs: number } & Pick<Surroundings, 'print'>,
): Promise<void> {
  const { name } = site.metadata;
  requireDelivered(site);
  await requireReporting(hub, site);
  const ended = await untilEnded(hub, site, deadlineMs, (state) => print(`${name}: ${state}`));
  const { state, code, what = '', fix } = ended;
  if (state !== 'done') {
    throw new Failure('fatal', `the node of the Site ${name} ${ENDS[state]}: ${what}`, {
      code: code !== undefined && isFailureCode(code) ? code : undefined,
      subject: name,
      found: code,
      fix,
    });
  }
  await keepKubeconfig(hub, site);
  await withdrawSite(hub, site, place);
  print(`${name}: the node is the node of its site`);
}

/** Without a recipient there is no key on the volume: waiting for the node would be in vain. */
async function requireReporting(hub: Hub, site: HubSite): Promise<void> {
  const kept = await readKept(hub, site);
  if (kept?.serial !== site.spec.serial || kept.reportTo !== undefined) return;
  throw new Failure('usage', `the node of the Site ${site.metadata.name} cannot report`, {
    expected: 'a volume that is encrypted for it: facts with a recipient in spec.hostFactsRef',
    fix: 'Look at its console, or at the medium, which is told how it went.',
  });
}

/** Takes away what nobody is to use any more. */
export async function withdrawSite(hub: Hub, site: HubSite, place: Published): Promise<void> {
  await detach(hub, site);
  const kept = await readKept(hub, site);
  if (kept !== undefined) await withdraw(place, kept, hub.signal);
}

const ENDS = {
  failed: 'has failed',
  refused: 'has refused the volume',
  takenBack: 'has failed, and is as it was before',
} as const;

function requireDelivered({ metadata: { name }, spec, status }: HubSite): void {
  const delivered = status?.conditions?.find(({ type }) => type === 'Delivered');
  if (status?.volume?.serial === spec.serial && delivered?.status === 'True') return;
  throw new Failure('usage', `nothing was delivered for the Site ${name}`, {
    expected: `the serial ${spec.serial}`,
    found: delivered?.message,
    fix: 'Run "sno fleet site --phase deliver" first.',
  });
}

async function untilEnded(
  hub: Hub,
  site: HubSite,
  deadlineMs: number,
  report: (state: string) => void,
) {
  const { name, namespace } = site.metadata;
  const said = (objects: ReadonlyMap<string, HubSite>) => {
    const now = objects.get(`${namespace}/${name}`);
    return now === undefined ? undefined : reportedOf({ ...now, spec: site.spec });
  };
  try {
    return await watchUntil(
      hub.client,
      hubKinds.sites,
      { namespace, fieldSelector: `metadata.name=${name}` },
      (objects) => {
        const reported = said(objects);
        if (reported === undefined || reported.state === 'running') return undefined;
        return { ...reported, state: reported.state };
      },
      {
        signal: hub.signal,
        deadlineMs,
        what: `the node of the Site ${name} to report`,
        describe: (objects) => {
          const reported = said(objects);
          return reported === undefined
            ? 'it has not said anything'
            : `it is at ${reported.step ?? 'its beginning'}`;
        },
        report,
      },
    );
  } catch (error) {
    if (error instanceof Failure && error.kind === 'deadline') {
      const found = error.details.found ?? '';
      await new SiteProgress(hub, site).noReport(
        `No end within ${durationText(deadlineMs)}: ${found}`,
      );
    }
    throw error;
  }
}

/** In the form of Hive, by which other programs find it. It stays if the Site is deleted: there is no other one. */
async function keepKubeconfig(hub: Hub, site: HubSite): Promise<void> {
  const kept = await readKept(hub, site);
  const text = kept?.made.outputs.find(({ path }) => path === AUTH_FILES.kubeconfig)?.contents;
  if (text === undefined) return;
  const name = `${site.metadata.name}-admin-kubeconfig`;
  const labels = { 'hive.openshift.io/secret-type': 'kubeconfig' };
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(site, name, { isOwned: false, labels }),
    data: { kubeconfig: Buffer.from(text).toString('base64') },
  };
  const patch = { kind: 'apply', manager: FIELD_MANAGERS.worker } as const;
  await hub.patch(hubKinds.secrets, name, body, patch);
}
