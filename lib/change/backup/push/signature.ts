import { createHash, createHmac } from 'node:crypto';

/** A request that a store knows by its signature. */
export interface SignedRequest {
  readonly method: 'PUT' | 'GET';
  /** Its path is encoded already, and has no query. */
  readonly url: string;
  /** SHA-256 of the body, hexadecimal: a store can compare what arrives. */
  readonly payload: string;
  readonly at: Date;
  /** Further headers that are signed, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StoreKeys {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Of a body that is not there. */
export const EMPTY_PAYLOAD = createHash('sha256').digest('hex');

/**
 * The headers of a request to S3 by Signature Version 4
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html), besides `host`, which the client sends.
 *
 * Not by curl's `--aws-sigv4`: the one of RHEL 9 (7.76) sends no `x-amz-content-sha256`, which S3 requires, and later ones
 * leave the body of an upload unsigned.
 */
export function signatureHeaders(
  { method, url, payload, at, headers = {} }: SignedRequest,
  { region, accessKeyId, secretAccessKey }: StoreKeys,
): Record<string, string> {
  const { host, pathname } = new URL(url);
  const time = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const sent = { ...headers, 'x-amz-content-sha256': payload, 'x-amz-date': time };
  const signed = Object.entries({ ...sent, host }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join('');
  const canonical = [method, pathname, '', lines, names, payload].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, time, scope, sha256(canonical)].join('\n');
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => hmac(secret, part).digest(),
    `AWS4${secretAccessKey}`,
  );
  const signature = hmac(key, text).digest('hex');
  const credential = `${accessKeyId}/${scope}`;
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${credential},SignedHeaders=${names},Signature=${signature}`,
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text);
