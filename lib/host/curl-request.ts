import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import type { ProxySettings } from '../base/network/proxy-for.ts';
import { printable } from '../base/printable.ts';
import type { Limits } from '../base/wait/limits.ts';
import { writeFileAtomic } from './files.ts';

/** One request by the operating system's curl. */
export interface SentRequest {
  readonly method: 'PATCH' | 'POST' | 'PUT' | 'GET';
  /** https only. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or a file that is streamed. */
  readonly body?: string | { readonly file: string };
  /** PEM; undefined: those that the system trusts. */
  readonly authority: string | undefined;
  /** Of the client, PEM. */
  readonly client?: { readonly certificate: string; readonly key: string };
}

export interface SendOptions extends Limits {
  readonly proxy?: ProxySettings;
  /** In memory (/run), does not exist: key and body are files there for as long as it takes. */
  readonly work: string;
}

const CONNECT_S = 15;
/** A line that has carried nothing for this long is cut. */
const SILENT_S = 60;

/** Whatever is secret is on curl's standard input and in files of root, never in its arguments. */
export const CURL = ['curl', '--disable', '--no-progress-meter', '--config', '-'] as const;

/**
 * The config file of curl, for its standard input; what it refers to is written into the folder.
 *
 * @param more what is done with the answer
 */
export async function curlConfig(
  { method, url, headers, body, authority, client }: SentRequest,
  folder: string,
  more: readonly (readonly [string, string])[],
): Promise<string> {
  const place = async (name: string, contents: string) => {
    const path = join(folder, name);
    await writeFileAtomic(path, contents, 0o600);
    return path;
  };
  const options: (readonly [string, string])[] = [
    ['url', url],
    ['request', method],
    ...headerOptions(headers, typeof body === 'string'),
    ...more,
    ['proto', '=https'],
    ['connect-timeout', `${CONNECT_S}`],
  ];
  if (typeof body === 'string') options.push(['data-binary', `@${await place('body', body)}`]);
  else if (body !== undefined) options.push(['upload-file', body.file]);
  if (typeof body !== 'string') options.push(['speed-limit', '1'], ['speed-time', `${SILENT_S}`]);
  if (authority !== undefined) {
    options.push(['cacert', await place('authority.pem', authority)]);
    // Else the folder that curl was built with counts as well: here, there are no names of certificates.
    options.push(['capath', folder]);
  }
  if (client !== undefined) {
    options.push(['cert', await place('client.pem', client.certificate)]);
    options.push(['key', await place('client.key', client.key)]);
  }
  const lines = options.map(([name, value]) => `${name} = "${escaped(value)}"\n`);
  return `${lines.join('')}globoff\ntlsv1.2\n`;
}

/** A small body is not announced first; a large one is, so that a refusal comes before it. */
const headerOptions = (
  headers: SentRequest['headers'],
  isSmall: boolean,
): (readonly [string, string])[] =>
  Object.entries({ ...headers, ...(isSmall ? { Expect: '' } : {}) }).map(([name, value]) => [
    'header',
    value === '' ? `${name}:` : `${name}: ${value}`,
  ]);

/** As curl's config files have it. No value has a line break: headers and URLs are of printable characters. */
const escaped = (value: string): string => value.replaceAll(/[\\"]/g, (each) => `\\${each}`);

/** How a run of curl ended. */
export interface EndedCurl {
  readonly exitCode?: number | undefined;
  readonly timedOut: boolean;
  readonly signal?: string | undefined;
  readonly code?: string | undefined;
  readonly stderr: string;
}

/** Nobody has answered, as far as curl says. */
export function noAnswer(
  url: string,
  { exitCode, timedOut, signal, code, stderr }: EndedCurl,
): Failure {
  const ended = timedOut ? 'its deadline' : (signal ?? exitCode ?? code ?? 'no exit code');
  const said = printable(stderr.trim().split('\n').at(-1) ?? '');
  return new Failure('retry', `${new URL(url).origin} does not answer`, {
    expected: 'an answer by HTTPS, with a certificate of the expected authority',
    found: [said, `curl ended with ${ended}`].filter((part) => part !== '').join(' | '),
  });
}

/** Of HTTP, as `%{http_code}` writes it; 0 without an answer. */
export const statusIn = (written: string): number =>
  Number(/^\d{3}$/.exec(written.trim())?.[0] ?? 0);

/** @throws Failure (fatal): an answer that is too large */
export const tooMuch = (url: string, most: number): Failure =>
  new Failure('fatal', `${new URL(url).origin} answers with too much`, {
    expected: `at most ${most} bytes`,
    found: 'more',
  });

/** Of curl (libcurl-errors): the answer is larger than max-filesize. */
export const TOO_LARGE = 63;
