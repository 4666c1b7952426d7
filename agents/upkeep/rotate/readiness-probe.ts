import * as http from 'node:http';
import * as https from 'node:https';
import { z } from 'zod';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { readGoYaml } from '../../../lib/base/go-yaml/read.ts';
import { directAddress } from '../../../lib/render/kubernetes/surge-redirect.ts';

const podSchema = z.object({
  spec: z.object({
    containers: z.tuple([
      z.object({
        readinessProbe: z.object({
          timeoutSeconds: z.number().default(1),
          httpGet: z.object({
            host: z.string(),
            port: z.number(),
            path: z.string(),
            scheme: z.enum(['HTTP', 'HTTPS']),
          }),
        }),
      }),
    ]),
  }),
});

/**
 * Asks a static pod's program what the kubelet asks it for readiness, and judges as the kubelet does
 * (pkg/probe/http/http.go): the certificate is not verified, and statuses below 400 are success. Unlike the kubelet's, the
 * question is never redirected to a second API server.
 *
 * @returns why the program is not ready; undefined if it is. The reason of the signal is thrown.
 */
export async function whyUnready(
  manifest: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { timeoutSeconds, httpGet } = podSchema.parse(readGoYaml(manifest)).spec.containers[0]
    .readinessProbe;
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const code = await statusOf(httpGet, AbortSignal.any([signal, late]));
    return code < 400 ? undefined : `${httpGet.path} returned ${code}`;
  } catch (error) {
    signal.throwIfAborted();
    return describeError(error);
  }
}

type Target = z.output<typeof podSchema>['spec']['containers'][0]['readinessProbe']['httpGet'];

function statusOf({ host, port, path, scheme }: Target, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const answered = (response: http.IncomingMessage) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  };
  const options = { host, port, path, agent: false, signal, localAddress: directAddress };
  const request =
    scheme === 'HTTPS'
      ? https.get({ ...options, rejectUnauthorized: false }, answered)
      : http.get(options, answered);
  request.on('error', reject);
  return promise;
}
