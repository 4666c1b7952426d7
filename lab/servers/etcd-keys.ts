import { credentials } from '@grpc/grpc-js';
import { z } from 'zod';
import type { EtcdTls } from '../../lib/clients/etcd/client.ts';
import { type CallLimits, type Method, RpcClient } from '../../lib/clients/grpc/client.ts';
import { rpcMethod } from '../../lib/clients/grpc/proto.ts';

/** Reads and writes single keys; the agents' service descriptor lacks these calls. */
interface EtcdKeys extends Disposable {
  put(key: string, value: Buffer, limits: CallLimits): Promise<void>;
  /** The stored value; undefined if the key does not exist. */
  get(key: string, limits: CallLimits): Promise<Buffer | undefined>;
}

const putMethod: Method<object> = { path: '/etcdserverpb.KV/Put', response: z.object({}) };
const rangeMethod: Method<{ kvs: { value: Buffer }[] }> = {
  path: '/etcdserverpb.KV/Range',
  response: z.object({ kvs: z.array(z.object({ value: z.instanceof(Buffer) })) }),
};

/** `endpoint` is `https://127.0.0.1:port`; the server is verified as localhost. */
export function etcdKeys(endpoint: string, tls: EtcdTls): EtcdKeys {
  const client = keyValueClient(endpoint, tls);
  return {
    async put(key, value, limits) {
      await client.unary(putMethod, { key: Buffer.from(key), value }, limits);
    },
    async get(key, limits) {
      const { kvs } = await client.unary(rangeMethod, { key: Buffer.from(key) }, limits);
      return kvs[0]?.value;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}

function keyValueClient(endpoint: string, { ca, cert, key }: EtcdTls): RpcClient {
  const bytes = (id: number) => ({ type: 'bytes', id });
  return new RpcClient({
    name: endpoint,
    address: new URL(endpoint).host,
    tlsServerName: 'localhost',
    credentials: credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert)),
    descriptor: {
      nested: {
        etcdserverpb: {
          nested: {
            KeyValue: { fields: { key: bytes(1), value: bytes(5) } },
            PutRequest: { fields: { key: bytes(1), value: bytes(2) } },
            PutResponse: { fields: {} },
            RangeRequest: { fields: { key: bytes(1) } },
            RangeResponse: { fields: { kvs: { rule: 'repeated', type: 'KeyValue', id: 2 } } },
            KV: {
              methods: {
                Put: rpcMethod('PutRequest', 'PutResponse'),
                Range: rpcMethod('RangeRequest', 'RangeResponse'),
              },
            },
          },
        },
      },
    },
  });
}
