import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { text } from 'node:stream/consumers';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { EtcdClient } from '../../../lib/clients/etcd/client.ts';
import type { CallLimits } from '../../../lib/clients/grpc/client.ts';
import { type GatherHost, own, patient } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { etcdMetricsUrl, etcdTls, hasEtcd, withEtcdOf } from './etcd-access.ts';
import { made, madeJson } from './made.ts';

/** Timeout of one etcd response. */
const ANSWER_MS = 5000;

const HEALTH_PATHS = ['/health', '/livez?verbose', '/readyz?verbose'];

/** What this host's etcd reports about itself; nothing if it has none. */
export const etcd: SourceGroup = {
  name: 'etcd',
  deadlineMs: 10_000,
  async list(host) {
    if (!(await hasEtcd(host))) return [];
    return [
      answer(host, 'endpoint-status', async (client, limits) => ({
        endpoint: client.endpoint,
        ...(await client.status(limits)),
      })),
      answer(host, 'member-list', (client, limits) => client.members(limits)),
      answer(host, 'alarms', (client, limits) => client.alarms(limits)),
      made(own(host, 'etcd/metrics.txt'), async (_, signal) => {
        const { code, body } = await page(host, '/metrics', signal);
        if (code === 200) return body;
        throw new Failure('retry', 'etcd returned no metrics', { found: `HTTP ${code}` });
      }),
      made(own(host, 'etcd/health.txt'), (_, signal) => health(host, signal)),
    ];
  },
};

function answer(
  host: GatherHost,
  name: string,
  ask: (client: EtcdClient, limits: CallLimits) => Promise<unknown>,
): Source {
  return madeJson(own(host, `etcd/${name}.json`), (_, signal) =>
    withEtcdOf(host, (client) => ask(client, { signal, deadlineMs: patient(host, ANSWER_MS) })),
  );
}

async function health(host: GatherHost, signal: AbortSignal): Promise<string> {
  const answers = await Promise.allSettled(HEALTH_PATHS.map((path) => page(host, path, signal)));
  const reasons = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  if (reasons.length === answers.length) throw reasons[0];
  return answers
    .map((one, index) => {
      const said =
        one.status === 'fulfilled'
          ? `HTTP ${one.value.code}\n${one.value.body.trimEnd()}`
          : describeError(one.reason);
      return `${HEALTH_PATHS[index]}: ${said}\n`;
    })
    .join('\n');
}

interface Page {
  readonly code: number;
  readonly body: string;
}

/** From the health and metrics address, which on some hosts requires a client certificate. */
async function page(host: GatherHost, path: string, signal: AbortSignal): Promise<Page> {
  const url = new URL(path, await etcdMetricsUrl(host));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(patient(host, ANSWER_MS))]);
  const tls = url.protocol === 'https:' ? await etcdTls(host) : undefined;
  try {
    return await new Promise<Page>((resolve, reject) => {
      const get = tls === undefined ? httpGet : httpsGet;
      const request = get(url, { signal: limit, agent: false, ...tls }, (response) => {
        text(response).then((body) => resolve({ code: response.statusCode ?? 0, body }), reject);
      });
      request.on('error', reject);
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new Failure('retry', `etcd does not answer at ${url.href}`, { cause });
  }
}
