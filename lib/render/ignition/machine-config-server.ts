import { request } from 'node:https';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';

export interface MachineConfigRequest extends Limits {
  /** Such as https://api-int.example.com:22623/config/master. */
  readonly url: string;
  /** PEM of the CA that the server's certificate must chain to. */
  readonly ca: string;
}

/**
 * The newest Ignition spec that is requested; the server converts down to it
 * (machine-config-operator, pkg/server).
 */
const ACCEPT = 'application/vnd.coreos.ignition+json;version=3.2.0';
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Fetches the master's Ignition config as text, over HTTPS only. Any status other
 * than 200, an empty body or one that is too large is a retryable error.
 */
export async function fetchMasterIgnition(what: MachineConfigRequest): Promise<string> {
  if (!what.url.startsWith('https://')) {
    throw new Failure('usage', 'the URL of the machine config server must use https', {
      expected: 'https://',
      found: what.url,
    });
  }
  const { status, body } = await get(what);
  if (status === 200 && body !== '') return body;
  throw new Failure('retry', `${what.url} returned no Ignition config`, {
    expected: 'status 200 with a body',
    found: body === '' ? `status ${status} with an empty body` : `status ${status}`,
  });
}

function get({ url, ca, signal, deadlineMs }: MachineConfigRequest) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const fail = (cause: unknown) =>
      reject(new Failure('retry', `${url} cannot be downloaded`, { cause }));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
    const call = request(url, { ca, headers: { accept: ACCEPT }, signal: limit }, (answer) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > MAX_BYTES) answer.destroy(new Error(`more than ${MAX_BYTES} bytes`));
        else parts.push(part);
      });
      answer.on('error', fail);
      answer.on('end', () =>
        resolve({ status: answer.statusCode, body: Buffer.concat(parts).toString('utf8') }),
      );
    });
    call.on('error', fail);
    call.end();
  });
}
