import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import {
  CURL,
  curlConfig,
  noAnswer,
  type SendOptions,
  type SentRequest,
  statusIn,
  TOO_LARGE,
  tooMuch,
} from './curl-request.ts';
import { proxyEnvironment } from './fetch.ts';
import { isMissing } from './files.ts';
import { withWorkFolder } from './work-folder.ts';

export interface Reply {
  /** Of HTTP; a redirect is one, too: it is not followed. */
  readonly status: number;
  readonly body: string;
}

/** Of an answer: an object of Kubernetes with everything that it manages is far smaller. */
const MAX_REPLY_BYTES = 1 << 20;

/**
 * Sends one request with the operating system's curl: its proxies apply, and TLS is always verified. Whatever is secret is in
 * files of root and on curl's standard input, never in its arguments. Nothing is sent twice.
 *
 * @throws Failure: fatal for an answer that is too large, else retry: nobody has answered
 */
export async function sendRequest(request: SentRequest, options: SendOptions): Promise<Reply> {
  return withWorkFolder(options.work, async (folder) => {
    const answer = join(folder, 'answer');
    const config = await curlConfig(request, folder, [
      ['output', answer],
      ['write-out', '%{http_code}'],
      ['max-filesize', `${MAX_REPLY_BYTES}`],
    ]);
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
  // With max-filesize, older versions of curl trust the size that the server states.
  const result = await execa('prlimit', [`--fsize=${MAX_REPLY_BYTES}`, '--', ...CURL], {
    env: proxyEnvironment(url, proxy),
    input,
    reject: false,
    cancelSignal: signal,
    timeout: Math.max(1, deadlineMs),
    maxBuffer: 64 << 10,
  });
  signal.throwIfAborted();
  const { exitCode, stdout } = result;
  if (exitCode === TOO_LARGE || result.signal === 'SIGXFSZ') throw tooMuch(url, MAX_REPLY_BYTES);
  const status = statusIn(stdout);
  if (exitCode === 0 && status > 0) return status;
  throw noAnswer(url, result);
}
