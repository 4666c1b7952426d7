import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { schemaFaults } from '../../../lib/base/errors/schema-faults.ts';
import { requestClientCertificate } from '../../../lib/clients/kube/client-certificate.ts';
import {
  type ReportTo,
  hubSchema as reportHubSchema,
} from '../../../lib/engine/report/report-to.ts';
import { SITES_GROUP, siteUser } from '../../../lib/engine/report/site-status.ts';
import { requireRegularFile } from '../../../lib/host/given-file.ts';
import type { HubAccess } from './access.ts';
import type { Hub } from './hub.ts';
import type { HubSite } from './kinds.ts';

export interface NodesHubOptions {
  readonly hubServer?: string;
  readonly hubCa?: string;
}

/** The API server of the hub as the nodes reach it. */
export interface NodesHub {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
}

/** The cluster may sign it for less: kube-controller-manager's --cluster-signing-duration. */
const CERTIFICATE_DAYS = 365;
const DAY_SECONDS = 86_400;
/** The controller-manager signs within seconds, and waits for a Lease after a restart. */
const SIGNING_MS = 120_000;

const hubSchema = reportHubSchema.shape.hub.pick({ server: true, certificateAuthority: true });

/** @throws Failure (usage) for an address or an authority that no node could use */
export async function nodesHub(
  { hubServer, hubCa }: NodesHubOptions,
  { access, isInPod }: HubAccess,
): Promise<NodesHub> {
  if (hubServer === undefined && isInPod) {
    throw new Failure('usage', 'it is not known how nodes reach the API server of the hub', {
      fix: 'Set its address with --hub-server, and its authority with --hub-ca if it is not that of the pods.',
    });
  }
  if (hubCa !== undefined) await requireRegularFile(hubCa, "The hub's authority");
  const server = hubServer ?? access.server.href;
  const ca = hubCa === undefined ? access.ca : await readFile(hubCa, 'utf8');
  const parsed = hubSchema.safeParse({ server, certificateAuthority: ca });
  if (parsed.success) return { server, ca };
  throw new Failure('usage', 'no node could report to the hub', {
    expected:
      'an address https://HOST:PORT with --hub-server, and its authority in PEM with --hub-ca',
    found: schemaFaults(parsed.error),
  });
}

/**
 * The text of report-to.json: with a certificate, and a key that nobody else has, for the status of this Site alone.
 *
 * @throws Failure (retry) if the hub does not sign in time, (fatal) if it refuses to
 */
export async function reportAccess(
  hub: Hub,
  { metadata: { namespace, name, uid }, spec: { serial } }: HubSite,
  { server, ca }: NodesHub,
  { isInstallation = false } = {},
): Promise<string> {
  const subject = { commonName: siteUser(namespace, name), organizations: [SITES_GROUP] };
  const limits = { signal: hub.signal, deadlineMs: SIGNING_MS };
  const purpose = {
    prefix: 'sno-site',
    reason: 'SnoFleetSite',
    message: `Requested and approved by sno fleet, for the node of the Site ${namespace}/${name}`,
    expirationSeconds: CERTIFICATE_DAYS * DAY_SECONDS,
  };
  const { certificate, key } = await requestClientCertificate(
    hub.client,
    subject,
    limits,
    purpose,
  ).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.kind !== 'deadline') throw error;
    // Of the hub, not of this Site: the next run may find it mended.
    throw new Failure('retry', error.what, error.details);
  });
  const reportTo: ReportTo = {
    apiVersion: 'sno-agents/v1',
    kind: 'ReportTo',
    hub: {
      server,
      certificateAuthority: ca,
      namespace,
      name,
      ...(uid && { uid }),
      // A volume has the serial itself, and nodes of earlier releases do not know this field.
      ...(isInstallation && { serial }),
      certificate,
      key,
    },
  };
  return `${JSON.stringify(reportTo, null, 2)}\n`;
}
