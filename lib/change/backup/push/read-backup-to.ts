import { join } from 'node:path';
import { describeError, Failure } from '../../../base/errors/failure.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import {
  certificateFaults,
  parseDestination,
  urlFaults,
} from '../../../engine/report/destination.ts';
import type { HostPaths } from '../../../host/paths.ts';
import { encrypterFor } from '../portable/recipients.ts';
import { BACKUP_TO, type BackupTo, s3Schema, urlSchema } from './backup-to.ts';

/** A certificate, and sixteen recipients that quantum computers do not break. */
export const MAX_BACKUP_TO_BYTES = 256 << 10;

/** On a host, 0600. */
export const backupToPath = ({ config }: Pick<HostPaths, 'config'>): string =>
  join(config, BACKUP_TO);

/**
 * Reads a backup-to.json. The message names fields, and quotes nothing of the file but recipients: it has secrets.
 *
 * @param name what messages call the file
 * @throws Failure (usage) with every fault
 */
export function parseBackupTo(text: string, name: string): BackupTo {
  return parseDestination<BackupTo>(text, {
    schemaOf: (json) => ('s3' in json ? s3Schema : urlSchema),
    faultsOf,
    unusable: (found) => unusable(name, found),
  });
}

const unusable = (name: string, found: string): Failure =>
  new Failure('usage', `${name} cannot be used`, {
    expected:
      'recipients of age, and a bucket with its keys (s3) or the URL of a folder (https) that takes files by PUT',
    found,
    fix: 'Correct it, or remove it: then backups stay on the host.',
  });

/** What the schema does not see. */
function faultsOf(to: BackupTo): string[] {
  const { certificateAuthority, recipients } = to;
  const trusted =
    certificateAuthority === undefined
      ? []
      : certificateFaults('certificateAuthority', certificateAuthority);
  return [...addressFaults(to), ...trusted, ...recipientFaults(recipients)];
}

function addressFaults(to: BackupTo): string[] {
  const [field, url] = 's3' in to ? ['s3.endpoint', to.s3.endpoint] : ['url', to.url];
  const { pathname, search } = new URL(url);
  const shape =
    's3' in to
      ? pathname === '/' || `${field}: expected no path: the bucket has a field of its own`
      : pathname.endsWith('/') || `${field}: expected a folder, which ends with /`;
  return [
    ...urlFaults(field, url),
    ...(search === '' ? [] : [`${field}: expected no query: it would be for one file alone`]),
    ...(shape === true ? [] : [shape]),
  ];
}

function recipientFaults(recipients: readonly string[]): string[] {
  return recipients.flatMap((recipient, at) => {
    try {
      encrypterFor([recipient]);
      return [];
    } catch (error) {
      const found = error instanceof Failure ? error.details.found : describeError(error);
      return [`recipients[${at}]: expected a public key of age, such as age1ql3z…: ${found}`];
    }
  });
}

/** Whether the contents of a backup-to.json must not be read by others. What cannot be read counts as one that must not. */
export function hasStoreSecret(text: string): boolean {
  const json = parseJson(text);
  return !isRecord(json) || 's3' in json || json.token !== undefined;
}
