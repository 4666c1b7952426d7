import {
  credentials,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type status,
} from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import type { Test } from 'tap';
import { EtcdClient } from '../../../../lib/clients/etcd/client.ts';
import { etcdDescriptor } from '../../../../lib/clients/etcd/descriptor.ts';
import { RpcClient } from '../../../../lib/clients/grpc/client.ts';

interface Request {
  readonly [field: string]: unknown;
}
/** A response stream that a test writes to; `cut` breaks it off. */
export interface Stream {
  readonly request: Request;
  send(answer: object): void;
  end(): void;
  cut(code: status, details: string): void;
}

/** A member's answers by etcd method name. Throw `rpcError` for an error. */
export interface Handlers {
  readonly [unary: string]: (request: Request) => object | Promise<object>;
}
export interface Streams {
  readonly [method: string]: (stream: Stream) => void;
}

export const rpcError = (code: status, details: string) =>
  Object.assign(new Error(details), { code, details });

/** The result of `Status` at a revision. */
export const statusAt = (revision: number) => ({
  header: { memberId: '7', clusterId: '8', revision },
  version: '3.6.4',
  dbSize: 4096,
  dbSizeInUse: 2048,
  leader: '7',
  raftIndex: 30,
  raftTerm: 2,
  raftAppliedIndex: 29,
  isLearner: false,
  dbSizeQuota: 8192,
  errors: ['alarm'],
});

const definition = fromJSON(etcdDescriptor, {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
});

/** A server on loopback with these answers until the test ends; other calls are UNIMPLEMENTED. Returns its port. */
export async function listen(
  t: Test,
  handlers: Handlers,
  streams: Streams,
  as: ServerCredentials,
): Promise<number> {
  const server = new Server();
  for (const service of Object.values(definition)) {
    if ('format' in service) continue;
    const names = Object.keys(service).filter((name) => name in handlers || name in streams);
    const methods = Object.entries(service).filter(([name]) => names.includes(name));
    if (methods.length === 0) continue;
    server.addService(
      Object.fromEntries(methods),
      Object.fromEntries(names.map((name) => [name, implementation(name, handlers, streams)])),
    );
  }
  t.teardown(() => server.forceShutdown());
  return await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', as, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
}

/** An etcd member with these answers, until the test ends. */
export async function serveEtcd(
  t: Test,
  handlers: Handlers,
  streams: Streams = {},
): Promise<EtcdClient> {
  const port = await listen(t, handlers, streams, ServerCredentials.createInsecure());
  const rpc = new RpcClient({
    name: 'etcd',
    address: `127.0.0.1:${port}`,
    credentials: credentials.createInsecure(),
    descriptor: etcdDescriptor,
  });
  const client = new EtcdClient('https://etcd.test:2379', rpc);
  t.teardown(() => client[Symbol.dispose]());
  return client;
}

type Unary = (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => void;
type OneWay = (call: ServerWritableStream<Request, object>) => void;
type TwoWay = (call: ServerDuplexStream<Request, object>) => void;

function implementation(
  name: string,
  handlers: Handlers,
  streams: Streams,
): Unary | OneWay | TwoWay {
  const answer = handlers[name];
  if (answer !== undefined) {
    return (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>) => {
      Promise.resolve()
        .then(() => answer(call.request))
        .then(
          (value) => done(null, value),
          (error) => done(error),
        );
    };
  }
  const open = streams[name];
  const start = (
    call: ServerWritableStream<Request, object> | ServerDuplexStream<Request, object>,
    request: Request,
  ) =>
    open?.({
      request,
      send: (value) => call.write(value),
      end: () => call.end(),
      cut: (code, details) => call.emit('error', rpcError(code, details)),
    });
  if (name !== 'Watch')
    return (call: ServerWritableStream<Request, object>) => start(call, call.request);
  return (call: ServerDuplexStream<Request, object>) => {
    call.once('data', (request: Request) => start(call, request));
  };
}
