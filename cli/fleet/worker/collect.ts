import { durationText } from '../../../lib/base/duration.ts';
import { isFailureCode } from '../../../lib/base/errors/codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import type { Surroundings } from '../../surroundings.ts';
import { reportedOf } from '../run-of.ts';
import type { SiteSpec } from '../site.ts';
import type { Hub } from './hub.ts';
import { forgetConfig, keepAdministrator, keepExchanged } from './keep-kubeconfig.ts';
import { readKept, type StoredKept } from './kept.ts';
import { type HubSite, hubKinds } from './kinds.ts';
import { SiteProgress } from './progress.ts';
import { type Published, withdraw } from './publish.ts';
import { detach, leaveAlone } from './virtual-media.ts';

/** How what a node has done is taken over. */
export interface HubCollection extends Pick<Surroundings, 'print'> {
  readonly place: Published;
  readonly deadlineMs: number;
  /** The hub reaches the API of an installed node: its administrator gets a certificate that the node has signed. */
  readonly exchanges: boolean;
}

const DONE: Readonly<Record<SiteSpec['action'], string>> = {
  relocate: 'the node is the node of its site',
  install: 'the node is installed',
  update: 'the node runs the update',
  none: 'nothing is wanted',
};

/**
 * Waits until the node of a Site has said how it went. If it is done, the administrator's kubeconfig is where Hive's would
 * be, and what was published is taken away.
 *
 * @throws Failure (usage) if nothing was delivered; (fatal) if the node failed; (deadline) if it does not say anything; (retry)
 *   `kubeconfig-not-exchanged` if the API of an installed node was not reached: all the rest is done
 */
export async function collectSite(
  hub: Hub,
  site: HubSite,
  { place, deadlineMs, exchanges, print }: HubCollection,
): Promise<void> {
  const { name } = site.metadata;
  const { action } = site.spec;
  requireDelivered(site);
  const kept = await readKept(hub, site);
  requireReporting(site, kept);
  const ended = await untilEnded(hub, site, deadlineMs, (state) => print(`${name}: ${state}`));
  const { state, code, what = '', fix } = ended;
  if (state !== 'done') {
    const ends = state === 'refused' ? `has refused the ${REFUSED[action]}` : ENDS[state];
    throw new Failure('fatal', `the node of the Site ${name} ${ends}: ${what}`, {
      code: code !== undefined && isFailureCode(code) ? code : undefined,
      subject: name,
      found: code,
      fix,
    });
  }
  // What was made for an earlier serial is not of an update.
  if (action !== 'update' && kept !== undefined) {
    await keepAdministrator(hub, site, kept);
    await takeAway(hub, site, kept, place);
    if (action === 'install')
      await endInstallation(hub, site, kept, { deadlineMs, exchanges, print });
  }
  print(`${name}: ${DONE[action]}`);
}

async function endInstallation(
  hub: Hub,
  site: HubSite,
  kept: StoredKept,
  { exchanges, ...limits }: Omit<HubCollection, 'place'>,
): Promise<void> {
  await leaveAlone(hub, site);
  const stored = await forgetConfig(hub, site, kept);
  if (exchanges) await keepExchanged(hub, site, stored, limits);
}

/** Without a recipient there is no key on the volume: waiting for the node would be in vain. */
function requireReporting(site: HubSite, kept: StoredKept | undefined): void {
  if (kept?.serial !== site.spec.serial || kept.reportTo !== undefined) return;
  throw new Failure('usage', `the node of the Site ${site.metadata.name} cannot report`, {
    expected: 'a volume that is encrypted for it: facts with a recipient in spec.hostFactsRef',
    fix: 'Look at its console, or at the medium, which is told how it went.',
  });
}

/** Takes away what nobody is to use any more. */
export async function withdrawSite(hub: Hub, site: HubSite, place: Published): Promise<void> {
  await takeAway(hub, site, await readKept(hub, site), place);
}

async function takeAway(
  hub: Hub,
  site: HubSite,
  kept: StoredKept | undefined,
  place: Published,
): Promise<void> {
  await detach(hub, site);
  if (kept !== undefined) await withdraw(place, kept, hub.signal);
}

const REFUSED: Readonly<Record<SiteSpec['action'], string>> = {
  relocate: 'volume',
  install: 'installation',
  update: 'update',
  none: 'change',
};

const ENDS = {
  failed: 'has failed',
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
            ? 'it has not reported anything'
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
