import { rm } from 'node:fs/promises';
import { execa } from 'execa';
import { Failure } from '../base/errors/failure.ts';
import { exemptBy, noProxyOf, type ProxySettings, proxyFor } from '../base/network/proxy-for.ts';
import type { Limits } from '../base/wait/limits.ts';
import { exists } from './files.ts';

export interface FetchOptions extends Limits {
  readonly proxy?: ProxySettings;
}

/** Exit codes of curl (libcurl-errors) that need different handling from a retry. */
const CURL = { scheme: 1, httpError: 22, write: 23, rangeRefused: 33, tooLarge: 63 } as const;
/** Statuses that persist until the site is changed. */
const FINAL_STATUS = /^(400|401|403|404|405|410|451)$/;
/** Through a proxy, only those that it does not answer by itself: a proxy is corrected without this host. */
const FINAL_THROUGH_PROXY = /^(404|405|410)$/;
/** Redirects to a host for which the proxy was decided wrongly. */
const MAX_REDIRECTS = 5;

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
  await fetchFrom(url, target, maxBytes, options, MAX_REDIRECTS);
}

async function fetchFrom(
  url: string,
  target: string,
  maxBytes: number,
  options: FetchOptions,
  redirects: number,
): Promise<void> {
  const begun = await exists(target);
  const { code, stdout, stderr } = await curl(
    url,
    [
      ...['--continue-at', '-', '--output', target, '--write-out', WRITE_OUT],
      ...['--max-filesize', `${maxBytes}`],
    ],
    { ...options, maxBytes },
  );
  if (code === 0) return;
  const [status = '', connectStatus = '', last = url] = stdout.split(' ');
  // curl has decided by its own rules for the host of a redirect, and knows no networks before 7.86.
  const isLate = last !== url && exemptBy(last, options.proxy?.noProxy ?? []) === 'network';
  if (isLate && redirects > 0) return fetchFrom(last, target, maxBytes, options, redirects - 1);
  // 416: the file was already complete, or the served file is shorter now.
  const refused = code === CURL.rangeRefused || (code === CURL.httpError && status === '416');
  if (!begun || !refused) {
    const proxy = proxyFor(last, options.proxy);
    throw fetchFailure(url, { code, status, connectStatus, last, stderr, maxBytes, proxy });
  }
  await rm(target, { force: true });
  await fetchFrom(url, target, maxBytes, options, redirects);
}

/** The status of the server or of the proxy in its place, that of a tunnel through a proxy, and the URL asked last. */
const WRITE_OUT = '%{http_code} %{http_connect} %{url_effective}';

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
      env: proxyEnvironment(url, proxy),
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
export function proxyEnvironment(
  url: string,
  proxy: ProxySettings | undefined,
): Record<string, string> {
  if (proxy === undefined) return {};
  const { httpProxy, httpsProxy, noProxy } = proxy;
  return {
    ...(httpProxy === undefined ? {} : { http_proxy: httpProxy }),
    ...(httpsProxy === undefined ? {} : { https_proxy: httpsProxy }),
    no_proxy: noProxyOf(url, noProxy).join(','),
  };
}

interface FailedFetch {
  code: number | string;
  /** `000` without an answer. */
  status: string;
  /** Of the proxy, to CONNECT. */
  connectStatus: string;
  /** The URL that was asked last, after redirects. */
  last: string;
  stderr: string;
  maxBytes: number;
  /** That was asked for the last URL. */
  proxy: string | undefined;
}

function fetchFailure(url: string, failed: FailedFetch): Failure {
  const { code, status, stderr, maxBytes, proxy } = failed;
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
  if (proxy !== undefined) return throughProxy(url, proxy, failed, found);
  const final = code === CURL.httpError && FINAL_STATUS.test(status);
  return new Failure(final ? 'fatal' : 'retry', `${url} cannot be downloaded`, {
    expected: 'status 200',
    found,
    ...(final ? { fix: 'Correct the URL or the file that is served there.' } : {}),
  });
}

/** Whatever comes through a proxy may be its own answer, and a page that it shows in place of an error. */
function throughProxy(
  url: string,
  proxy: string,
  { code, status, connectStatus, last }: FailedFetch,
  found: string,
): Failure {
  const { host } = new URL(proxy);
  const answered = /^[45]\d\d$/.test(connectStatus) ? connectStatus : status;
  const isOwn = answered === connectStatus || answered === '407';
  const final = code === CURL.httpError && !isOwn && FINAL_THROUGH_PROXY.test(status);
  const refused = /^4\d\d$/.test(answered) && !final;
  const whose = isOwn ? `the proxy ${host} answered ${answered}` : `through the proxy ${host}`;
  const named = `"noProxy" exempts ${new URL(last).hostname}`;
  return new Failure(final ? 'fatal' : 'retry', `${url} cannot be downloaded`, {
    expected: 'status 200',
    found: `${found} | ${whose}`,
    ...(final ? { fix: 'Correct the URL or the file that is served there.' } : {}),
    ...(refused
      ? {
          fix:
            answered === '407'
              ? `Write user and password into the URL of the proxy, or create the Ignition config so that ${named}. It is tried again.`
              : `Have the proxy allow it, or create the Ignition config so that ${named}. It is tried again.`,
        }
      : {}),
  });
}
