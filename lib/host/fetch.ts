import { rm } from 'node:fs/promises';
import { execa } from 'execa';
import { Failure } from '../errors/failure.ts';
import type { Limits } from '../wait/limits.ts';
import { exists } from './files.ts';

export interface ProxySettings {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy: readonly string[];
}

export interface FetchOptions extends Limits {
  readonly proxy?: ProxySettings;
}

/** Exit codes of curl (libcurl-errors) that need different handling from a retry. */
const CURL = { scheme: 1, httpError: 22, write: 23, rangeRefused: 33, tooLarge: 63 } as const;
/** Statuses that persist until the site is changed. */
const FINAL_STATUS = /^(400|401|403|404|405|410|451)$/;

/**
 * Fetches a file with the operating system's curl: its trust store and proxies
 * apply, and the transfer does not block the event loop. An existing `target` is
 * resumed; if the server does not support that, the whole file is fetched again.
 * Never writes more than `maxBytes`. The caller verifies the result.
 * @throws Failure: fatal where retrying cannot help, else retry; the partial file
 *   is kept.
 */
export async function fetchFile(
  url: string,
  target: string,
  maxBytes: number,
  options: FetchOptions,
): Promise<void> {
  const begun = await exists(target);
  const { code, stdout, stderr } = await curl(
    url,
    [
      ...['--continue-at', '-', '--output', target, '--write-out', '%{http_code}'],
      ...['--max-filesize', `${maxBytes}`],
    ],
    { ...options, maxBytes },
  );
  if (code === 0) return;
  const status = stdout;
  // 416: the file was already complete, or the served file is shorter now.
  const refused = code === CURL.rangeRefused || (code === CURL.httpError && status === '416');
  if (!begun || !refused) throw fetchFailure(url, { code, status, stderr, maxBytes });
  await rm(target, { force: true });
  await fetchFile(url, target, maxBytes, options);
}

async function curl(
  url: string,
  args: readonly string[],
  { proxy, signal, deadlineMs, maxBytes }: FetchOptions & { readonly maxBytes: number },
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const redirects = url.startsWith('https:') ? '=https' : '=http,https';
  const result = await execa(
    'prlimit',
    [
      // With --max-filesize, older versions of curl trust the size that the server states.
      ...[`--fsize=${maxBytes}`, '--', 'curl', '--disable', '--globoff'],
      ...['--no-progress-meter', '--fail', '--location', '--max-redirs', '5'],
      ...['--proto', '=http,https', '--proto-redir', redirects],
      ...['--connect-timeout', '30', '--speed-limit', '1024', '--speed-time', '60'],
      ...[...args, '--url', url],
    ],
    {
      env: proxyEnvironment(proxy),
      stdin: 'ignore',
      reject: false,
      cancelSignal: signal,
      timeout: Math.max(1, deadlineMs),
    },
  );
  signal.throwIfAborted();
  const { exitCode, timedOut, code, stdout, stderr } = result;
  const tooLarge = result.signal === 'SIGXFSZ' ? CURL.tooLarge : undefined;
  const ended = timedOut ? 'its deadline' : (result.signal ?? code ?? 'no exit code');
  return { code: tooLarge ?? exitCode ?? ended, stdout, stderr: stderr.trim() };
}

/** curl reads only the lower-case name of http_proxy. */
function proxyEnvironment(proxy: ProxySettings | undefined): Record<string, string> {
  if (proxy === undefined) return {};
  const { httpProxy, httpsProxy, noProxy } = proxy;
  return {
    ...(httpProxy === undefined ? {} : { http_proxy: httpProxy }),
    ...(httpsProxy === undefined ? {} : { https_proxy: httpsProxy }),
    no_proxy: noProxy.join(','),
  };
}

interface FailedFetch {
  code: number | string;
  status: string;
  stderr: string;
  maxBytes: number;
}

function fetchFailure(url: string, { code, status, stderr, maxBytes }: FailedFetch): Failure {
  const found = [stderr.replace(/\s*\n\s*/g, ' | '), `curl ended with ${code}`]
    .filter((part) => part !== '')
    .join(' | ');
  if (code === CURL.tooLarge) {
    const expected = `at most ${maxBytes} bytes`;
    return new Failure('fatal', `${url} is too large`, { expected, found });
  }
  if (code === CURL.write) {
    const fix = 'Free space on its file system. A live host needs more memory.';
    return new Failure('fatal', `${url} cannot be stored`, { code: 'disk-full', found, fix });
  }
  if (code === CURL.scheme) {
    const expected = url.startsWith('https:')
      ? 'https, redirects included'
      : 'http or https, redirects included';
    return new Failure('fatal', `${url} leads elsewhere`, { expected, found });
  }
  const final = code === CURL.httpError && FINAL_STATUS.test(status);
  return new Failure(final ? 'fatal' : 'retry', `${url} cannot be downloaded`, {
    expected: 'status 200',
    found,
    ...(final ? { fix: 'Correct the URL or the file that is served there.' } : {}),
  });
}
