import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { HostPaths } from '../../host/paths.ts';
import { certificateFaults, parseDestination, urlFaults } from './destination.ts';
import { hubSchema, REPORT_TO, type ReportTo, urlSchema } from './report-to.ts';

/** Two certificates, a key and some names. */
export const MAX_REPORT_TO_BYTES = 256 << 10;

/** On a host, 0600. */
export const reportToPath = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, REPORT_TO);

/**
 * Reads a report-to.json. The message names fields, and quotes nothing of the file: it has secrets.
 *
 * @param name what messages call the file
 * @throws Failure (usage) with every fault
 */
export function parseReportTo(text: string, name: string): ReportTo {
  return parseDestination<ReportTo>(text, {
    schemaOf: (json) => ('hub' in json ? hubSchema : urlSchema),
    faultsOf,
    unusable: (found) => unusable(name, found),
  });
}

const unusable = (name: string, found: string): Failure =>
  new Failure('usage', `${name} cannot be used`, {
    expected: 'a hub with a client certificate and its key, or the URL of a server (https)',
    found,
    fix: 'Correct it, or remove it: then the node does not report.',
  });

/** What the schema does not see. */
function faultsOf(to: ReportTo): string[] {
  if ('url' in to) {
    return [
      ...urlFaults('url', to.url),
      ...(to.certificateAuthority === undefined
        ? []
        : certificateFaults('certificateAuthority', to.certificateAuthority)),
    ];
  }
  const { server, certificateAuthority, certificate, key } = to.hub;
  const own = certificateFaults('hub.certificate', certificate);
  return [
    ...urlFaults('hub.server', server),
    ...certificateFaults('hub.certificateAuthority', certificateAuthority),
    ...own,
    ...(own.length > 0 || isKeyOf(certificate, key)
      ? []
      : ['hub.key: expected the key of hub.certificate, without a passphrase']),
  ];
}

function isKeyOf(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Whether the contents of a report-to.json must not be read by others. What cannot be read counts as one that must not. */
export function hasSecret(text: string): boolean {
  const json = parseJson(text);
  return !isRecord(json) || 'hub' in json || json.token !== undefined;
}
