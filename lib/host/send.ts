import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../base/errors/failure.ts';
import type { ProxySettings } from '../base/network/proxy-for.ts';
import { printable } from '../base/printable.ts';
import type { Limits } from '../base/wait/limits.ts';
import { proxyEnvironment } from './fetch.ts';
import { isMissing, writeFileAtomic } from './files.ts';
import { withWorkFolder } from './work-folder.ts';

export interface SentRequest {
  readonly method: 'PATCH' | 'POST';
  /** https only. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** PEM; undefined: those that the system trusts. */
  readonly authority: string | undefined;
  /** Of the client, PEM. */
  readonly client?: { readonly certificate: string; readonly key: string };
}

export interface Reply {
  /** Of HTTP; a redirect is one, too: it is not followed. */
  readonly status: number;
  readonly body: string;
}

export interface SendOptions extends Limits {
  readonly proxy?: ProxySettings;
  /** In memory (/run), does not exist: key and body are files there for as long as it takes. */
  readonly work: string;
}

/** Of an answer: an object of Kubernetes with everything that it manages is far smaller. */
const MAX_REPLY_BYTES = 1 << 20;
const CONNECT_S = 15;
/** Of curl (libcurl-errors). */
const TOO_LARGE = 63;

/**
 * Sends one request with the operating system's curl: its proxies apply, and TLS is always verified. Whatever is secret is in
 * files of root and on curl's standard input, never in its arguments. Nothing is sent twice.
 *
 * @throws Failure: fatal for an answer that is too large, else retry: nobody has answered
 */
export async function sendRequest(request: SentRequest, options: SendOptions): Promise<Reply> {
  return withWorkFolder(options.work, async (folder) => {
    const answer = join(folder, 'answer');
    const config = await curlConfig(request, folder, answer);
    const status = await curl(request.url, config, options);
    const body = await readFile(answer, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '';
      throw error;
    });
    return { status, body };
  });
}

async function curl(
  url: string,
  input: string,
  { proxy, signal, deadlineMs }: SendOptions,
): Promise<number> {
  const result = await execa(
    'prlimit',
    [
      // With max-filesize, older versions of curl trust the size that the server states.
      ...[`--fsize=${MAX_REPLY_BYTES}`, '--', 'curl', '--disable', '--no-progress-meter'],
      ...['--config', '-'],
    ],
    {
      env: proxyEnvironment(url, proxy),
      input,
      reject: false,
      cancelSignal: signal,
      timeout: Math.max(1, deadlineMs),
      maxBuffer: 64 << 10,
    },
  );
  signal.throwIfAborted();
  const { exitCode, timedOut, code, stdout, stderr } = result;
  const { origin } = new URL(url);
  if (exitCode === TOO_LARGE || result.signal === 'SIGXFSZ') {
    throw new Failure('fatal', `${origin} answers with too much`, {
      expected: `at most ${MAX_REPLY_BYTES} bytes`,
      found: 'more',
    });
  }
  const status = Number(/^\d{3}$/.exec(stdout.trim())?.[0] ?? 0);
  if (exitCode === 0 && status > 0) return status;
  const ended = timedOut ? 'its deadline' : (result.signal ?? exitCode ?? code ?? 'no exit code');
  const said = printable(stderr.trim().split('\n').at(-1) ?? '');
  throw new Failure('retry', `${origin} does not answer`, {
    expected: 'an answer by HTTPS, with a certificate of the expected authority',
    found: [said, `curl ended with ${ended}`].filter((part) => part !== '').join(' | '),
  });
}

/** The config file of curl, for its standard input; what it refers to is written into the folder. */
async function curlConfig(
  { method, url, headers, body, authority, client }: SentRequest,
  folder: string,
  answer: string,
): Promise<string> {
  const place = async (name: string, contents: string) => {
    const path = join(folder, name);
    await writeFileAtomic(path, contents, 0o600);
    return path;
  };
  const options: [string, string][] = [
    ['url', url],
    ['request', method],
    ['data-binary', `@${await place('body', body)}`],
    // The body is small: it is not announced first.
    ...Object.entries({ ...headers, Expect: '' }).map(([name, value]): [string, string] => [
      'header',
      value === '' ? `${name}:` : `${name}: ${value}`,
    ]),
    ['output', answer],
    ['write-out', '%{http_code}'],
    ['proto', '=https'],
    ['connect-timeout', `${CONNECT_S}`],
    ['max-filesize', `${MAX_REPLY_BYTES}`],
  ];
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

/** As curl's config files have it. No value has a line break: headers and URLs are of printable characters. */
const escaped = (value: string): string => value.replaceAll(/[\\"]/g, (each) => `\\${each}`);
