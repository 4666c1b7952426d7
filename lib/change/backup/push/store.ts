import { Failure } from '../../../base/errors/failure.ts';
import type { SendOptions, SentRequest } from '../../../host/curl-request.ts';
import { digestOfAnswer } from '../../../host/digest-of-answer.ts';
import { type Reply, sendRequest } from '../../../host/send.ts';
import type { BackupTo } from './backup-to.ts';
import { EMPTY_PAYLOAD, signatureHeaders } from './signature.ts';

/** A file that is to be stored. */
export interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Where a file of that name is stored. It has no secrets. */
export function storedAt(to: BackupTo, name: string): string {
  if (!('s3' in to)) return `${to.url}${name}`;
  const { endpoint, bucket, prefix } = to.s3;
  return `${endpoint.replace(/\/$/, '')}/${bucket}/${prefix}${name}`;
}

/**
 * Stores a file, and reads it back: what is there then is the file, whatever the store says of it. That is what every
 * kind of store can.
 *
 * @throws Failure: retry where the same attempt may succeed later, else fatal; with what to do
 */
export async function storeFile(
  to: BackupTo,
  name: string,
  file: StoredFile,
  options: SendOptions,
): Promise<void> {
  const url = storedAt(to, name);
  const began = performance.now();
  const reply = await sendRequest(
    { ...requestOf(to, 'PUT', url, file.sha256), body: { file: file.path } },
    options,
  );
  if (reply.status < 200 || reply.status >= 300) throw refused(url, reply);
  const left = Math.round(options.deadlineMs - (performance.now() - began));
  const found = await digestOfAnswer(requestOf(to, 'GET', url, EMPTY_PAYLOAD), file.bytes, {
    ...options,
    deadlineMs: left,
  });
  if (found.status !== 200) throw unreadable(url, found.status);
  if (found.sha256 === file.sha256 && found.bytes === file.bytes) return;
  throw new Failure('retry', `what ${url} has is not what was stored there`, {
    expected: `${file.bytes} bytes, SHA-256 ${file.sha256}`,
    found: `${found.bytes} bytes, SHA-256 ${found.sha256}`,
    fix: 'Look at the store and at what is between it and the host: something damages files.',
  });
}

function requestOf(to: BackupTo, method: 'PUT' | 'GET', url: string, payload: string): SentRequest {
  const type: Record<string, string> =
    method === 'PUT' ? { 'content-type': 'application/octet-stream' } : {};
  const signed = { method, url, payload, at: new Date(), headers: type };
  return {
    ...{ method, url, authority: to.certificateAuthority },
    headers: 's3' in to ? signatureHeaders(signed, to.s3) : { ...type, ...bearer(to.token) },
  };
}

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Statuses after which the same request may well be accepted. */
const PASSING = [408, 409, 425, 429];
const FULL = 507;
/** Of an answer of S3: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
const CODE = /<Code>([A-Za-z]{1,64})<\/Code>/;

const FIXES: Readonly<Record<number, string>> = {
  401: 'Correct the key or the token in backup-to.json.',
  403: 'Correct the key or the token in backup-to.json, and let it store and read files there.',
  404: 'Create the bucket or the folder, or correct backup-to.json.',
  405: 'Have the server take files by PUT, or correct the URL in backup-to.json.',
  413: 'Have the store accept files of this size.',
  507: 'Free space on the store, or have it delete old backups.',
};
const SKEWED = 'RequestTimeTooSkewed';

function refused(url: string, { status, body }: Reply): Failure {
  const code = CODE.exec(body)?.[1];
  const isPassing = (status >= 500 && status !== FULL) || PASSING.includes(status);
  const isRedirect = status >= 300 && status < 400;
  const fix =
    code === SKEWED
      ? 'Correct the clock of the host: the store takes requests of the last quarter of an hour.'
      : isRedirect
        ? 'Write the address that it names into backup-to.json: a redirect is not followed.'
        : FIXES[status];
  return new Failure(isPassing ? 'retry' : 'fatal', `${url} cannot be stored`, {
    expected: 'a status from 200 to 299',
    found: `status ${status}${code === undefined ? '' : `, ${code}`}`,
    ...(fix === undefined ? {} : { fix }),
  });
}

function unreadable(url: string, status: number): Failure {
  const isPassing = status >= 500 || status === 404 || PASSING.includes(status);
  return new Failure(isPassing ? 'retry' : 'fatal', `${url} was stored, and cannot be read back`, {
    expected: 'status 200',
    found: `status ${status}`,
    fix: 'Let the key or the token of backup-to.json read what it has stored.',
  });
}
