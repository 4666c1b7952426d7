import { inOneLine } from '../../../lib/base/printable.ts';
import {
  API_VERSION,
  FIELD_MANAGERS,
  NODE_CONDITIONS,
  type SiteCondition,
  type SiteStatus,
} from '../../../lib/engine/report/site-status.ts';
import { reportedOf } from '../run-of.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds } from './kinds.ts';

type Volume = NonNullable<SiteStatus['volume']>;
type Said = Omit<SiteCondition, 'lastTransitionTime'>;

/** Below what the API server takes. */
const LONGEST_MESSAGE = 700;
/**
 * Who resets what the node says, and who says that it says nothing. Each has fields of its own until the node takes them
 * over: the worker's own state can then be written without them.
 */
const RESET = `${FIELD_MANAGERS.worker}-reset`;
const COLLECT = `${FIELD_MANAGERS.worker}-collect`;

/** Conditions with one that is new or as before; its time is that of its last change. */
export function withCondition(
  conditions: readonly SiteCondition[],
  said: Said,
  now: Date,
): SiteCondition[] {
  const before = conditions.find(({ type }) => type === said.type);
  const since = before?.status === said.status ? before.lastTransitionTime : now.toISOString();
  return [
    ...conditions.filter(({ type }) => type !== said.type),
    {
      ...said,
      message: inOneLine(said.message).slice(0, LONGEST_MESSAGE),
      lastTransitionTime: since,
    },
  ];
}

/** Before anybody has what a new serial is to bring: what the node has said of the one before does not count for it. */
export async function resetForSerial(hub: Hub, site: HubSite): Promise<void> {
  if (site.status?.volume?.serial === site.spec.serial || reportedOf(site) !== undefined) return;
  await new SiteProgress(hub, site).resetNode();
}

/** What a worker says of a Site in its status. */
export class SiteProgress {
  readonly #hub: Hub;
  readonly #site: HubSite;
  #conditions: readonly SiteCondition[];
  #volume: Volume | undefined;

  constructor(hub: Hub, site: HubSite) {
    const { conditions = [], volume } = site.status ?? {};
    this.#hub = hub;
    this.#site = site;
    this.#conditions = conditions.filter(({ type }) => type === 'Rendered' || type === 'Delivered');
    this.#volume = volume;
    if (volume?.serial !== site.spec.serial) {
      const message = `The volume with the serial ${site.spec.serial} is not delivered yet`;
      this.#set({ type: 'Delivered', status: 'False', reason: 'NewSerial', message });
    }
  }

  /** Writes a condition; `volume`: what is published from now on. */
  async say(said: Said, volume = this.#volume): Promise<void> {
    this.#set(said);
    this.#volume = volume;
    await this.#apply(FIELD_MANAGERS.worker, {
      conditions: this.#conditions,
      ...(volume === undefined ? {} : { volume }),
    });
  }

  /** What the node has said of an earlier serial is not said of this one. */
  async resetNode(): Promise<void> {
    const message = `The node has not reported on the serial ${this.#site.spec.serial}`;
    const conditions = NODE_CONDITIONS.map((type) =>
      this.#ofNode(type, 'False', 'NotReported', message),
    );
    await this.#apply(RESET, { conditions });
  }

  /** Nothing is known of the node's end. */
  async noReport(message: string): Promise<void> {
    const conditions = [this.#ofNode('Completed', 'Unknown', 'NoReport', message)];
    await this.#apply(COLLECT, { conditions });
  }

  #set(said: Said): void {
    this.#conditions = withCondition(this.#conditions, said, new Date());
  }

  #ofNode(
    type: SiteCondition['type'],
    status: SiteCondition['status'],
    reason: string,
    message: string,
  ): SiteCondition | undefined {
    const before = this.#site.status?.conditions ?? [];
    return withCondition(before, { type, status, reason, message }, new Date()).at(-1);
  }

  async #apply(manager: string, status: object): Promise<void> {
    const { name, namespace, uid } = this.#site.metadata;
    // With its uid: a Site that was deleted is not made again.
    const body = {
      apiVersion: API_VERSION,
      kind: 'Site',
      metadata: { name, namespace, uid },
      status,
    };
    const patch = { kind: 'apply', manager, subresource: 'status' } as const;
    await this.#hub.patch(hubKinds.sites, name, body, patch);
  }
}
