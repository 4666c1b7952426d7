import { Failure } from '../../../lib/base/errors/failure.ts';
import { isRecord, parseJson } from '../../../lib/base/json.ts';
import type { NodeReport } from '../../../lib/engine/report/node-report.ts';
import type { ReportTo } from '../../../lib/engine/report/report-to.ts';
import {
  API_VERSION,
  FIELD_MANAGERS,
  FLEET,
  type SiteStatus,
} from '../../../lib/engine/report/site-status.ts';
import type { SendOptions, SentRequest } from '../../../lib/host/curl-request.ts';
import { type Reply, sendRequest } from '../../../lib/host/send.ts';
import { told } from './failure-text.ts';
import { type WantedOfNode, wantedIn } from './heed.ts';

/** What became of a report that was sent. */
export type Delivery =
  | { readonly kind: 'accepted'; readonly wanted: WantedOfNode | undefined }
  /** The hub has a newer one of this node, with this number. */
  | { readonly kind: 'older'; readonly newest: number; readonly why: string }
  /** Trying again does not help, as far as this host can tell. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unanswered'; readonly why: string };

/** Statuses after which the same request may well be accepted. */
const PASSING = [408, 409, 425, 429];
/** Of the policy of a hub (deploy/fleet). */
const NEWER_THAN = /newer than (\d{1,16})\b/;

/**
 * Sends a report once. `isTried`: a hub judges and answers it, and keeps nothing of it.
 *
 * @throws only when the signal ends it
 */
export async function deliver(
  to: ReportTo,
  report: NodeReport,
  status: SiteStatus,
  { isTried = false, ...options }: SendOptions & { readonly isTried?: boolean },
): Promise<Delivery> {
  try {
    const request = 'hub' in to ? patchOf(to.hub, status, isTried) : postOf(to, report);
    return answerOf(await sendRequest(request, options));
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    const why = told(`${error.what}: ${error.details.found ?? ''}`);
    return { kind: error.kind === 'retry' ? 'unanswered' : 'refused', why };
  }
}

/** Server-side apply of the part of a Site's status that is the node's. */
function patchOf(
  hub: Extract<ReportTo, { readonly hub: unknown }>['hub'],
  status: SiteStatus,
  isTried: boolean,
): SentRequest {
  const { server, namespace, name, uid, serial, certificateAuthority, certificate, key } = hub;
  const path = `apis/${FLEET.group}/${FLEET.version}/namespaces/${namespace}/${FLEET.plural}/${name}/status`;
  const metadata = { name, namespace };
  // The API server does not compare a uid in the metadata of a status.
  const of = { ...(uid && { site: uid }), ...(serial !== undefined && { serial }) };
  const report = status.report && { ...status.report, ...of };
  return {
    method: 'PATCH',
    url: `${server.replace(/\/+$/, '')}/${path}?fieldManager=${FIELD_MANAGERS.node}&force=true${isTried ? '&dryRun=All' : ''}`,
    headers: { 'Content-Type': 'application/apply-patch+yaml', Accept: 'application/json' },
    body: JSON.stringify({
      ...{ apiVersion: API_VERSION, kind: 'Site', metadata },
      status: { ...status, report },
    }),
    authority: certificateAuthority,
    client: { certificate, key },
  };
}

const postOf = (
  { url, certificateAuthority, token }: Extract<ReportTo, { readonly url: string }>,
  report: NodeReport,
): SentRequest => ({
  method: 'POST',
  url,
  headers: {
    'Content-Type': 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  },
  body: JSON.stringify(report),
  authority: certificateAuthority,
});

function answerOf({ status, body }: Reply): Delivery {
  if (status >= 200 && status < 300) return { kind: 'accepted', wanted: wantedIn(body) };
  const why = `status ${status}${reasonIn(body)}`;
  if (status >= 300 && status < 400) {
    return { kind: 'refused', why: `${why}: a redirect is not followed` };
  }
  if (status >= 500 || PASSING.includes(status)) return { kind: 'unanswered', why };
  const newest = Number(NEWER_THAN.exec(body)?.[1]);
  // What a number can count on from there.
  const isUsable = Number.isSafeInteger(newest) && Number.isSafeInteger(newest + 1e9);
  return isUsable ? { kind: 'older', newest, why } : { kind: 'refused', why };
}

/** The sentence of a Status of Kubernetes, or the beginning of whatever else was answered. */
function reasonIn(body: string): string {
  const json = parseJson(body);
  const message = isRecord(json) && typeof json.message === 'string' ? json.message : body;
  const text = told(message.slice(0, 2000)).slice(0, 300);
  return text === '' ? '' : `: ${text}`;
}
