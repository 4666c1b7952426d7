import { createHash } from 'node:crypto';
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
import { withWorkFolder } from './work-folder.ts';

/** What was answered. Of an error there is no body. */
export interface AnswerDigest {
  readonly status: number;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads an answer with the operating system's curl, and keeps nothing of it but its size and its digest.
 *
 * @param maxBytes what is more is not read
 * @throws Failure: fatal for an answer that is too large, else retry: nobody has answered, or not to the end
 */
export async function digestOfAnswer(
  request: SentRequest,
  maxBytes: number,
  { proxy, signal, deadlineMs, work }: SendOptions,
): Promise<AnswerDigest> {
  return withWorkFolder(work, async (folder) => {
    const [program, ...args] = CURL;
    const input = await curlConfig(request, folder, [
      ['write-out', '%{stderr}%{http_code}'],
      ['max-filesize', `${maxBytes}`],
    ]);
    const running = execa(program, args, {
      ...{ env: proxyEnvironment(request.url, proxy), input, reject: false, cancelSignal: signal },
      timeout: Math.max(1, deadlineMs),
      buffer: { stdout: false, stderr: true },
      maxBuffer: 64 << 10,
    });
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of running.iterable({ binary: true, preserveNewlines: true })) {
      bytes += piece.length;
      if (bytes > maxBytes) {
        running.kill();
        break;
      }
      hash.update(piece);
    }
    const result = await running;
    signal.throwIfAborted();
    if (bytes > maxBytes || result.exitCode === TOO_LARGE) throw tooMuch(request.url, maxBytes);
    const status = statusIn(result.stderr.split('\n').at(-1) ?? '');
    if (result.exitCode !== 0 || status === 0) throw noAnswer(request.url, result);
    return { status, bytes, sha256: hash.digest('hex') };
  });
}
