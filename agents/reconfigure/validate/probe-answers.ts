import { z } from 'zod';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { urlHost } from '../../../lib/base/network/address.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import { succeeds, waitUntil } from '../../../lib/base/wait/wait-until.ts';

const ANSWER_MS = 5_000;
const PAUSE_MS = 500;
const KEY = 'sno-validate';

const membersSchema = z.object({ members: z.array(z.looseObject({ name: z.string() })) });
const rangeSchema = z.object({ kvs: z.array(z.object({ value: z.base64() })).default([]) });
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** What the probe says at one of its addresses (etcd's JSON gateway). Each request is repeated until it is answered. */
export const answersOf = (address: string, port: number, limits: Limits) => {
  const ask = (path: string, body: object) =>
    untilAnswered(`http://${urlHost(address)}:${port}${path}`, body, limits);
  return {
    name: async () =>
      membersSchema.parse(await ask('/v3/cluster/member/list', {})).members[0]?.name,
    write: async (value: string) => {
      await ask('/v3/kv/put', { key: base64(KEY), value: base64(value) });
    },
    read: async () => {
      const { kvs } = rangeSchema.parse(await ask('/v3/kv/range', { key: base64(KEY) }));
      return kvs[0] === undefined ? undefined : Buffer.from(kvs[0].value, 'base64').toString();
    },
  };
};

/** A Service, or a pod that has just started, may take a moment. */
async function untilAnswered(url: string, body: object, limits: Limits): Promise<unknown> {
  const answer = async ({ signal }: Limits): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    return await response.json();
  };
  return waitUntil(succeeds(answer), {
    ...limits,
    everyMs: PAUSE_MS,
    late: ({ cause }) => new Failure('deadline', `${url} does not answer`, { cause }),
  });
}
