import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  Metadata,
} from '@grpc/grpc-js';
import { fromJSON, type MethodDefinition } from '@grpc/proto-loader';
import type { z } from 'zod';
import type { Limits } from '../../base/wait/limits.ts';
import { rpcFailure } from './failure.ts';

/** A protobuf namespace in protobufjs' JSON form: no .proto file is read at run time. */
export type Descriptor = Parameters<typeof fromJSON>[0];

/** How long a call may take, and what ends it early. */
export interface CallLimits extends Limits {
  /**
   * Wait for the server to come up, until the deadline, instead of failing at once
   * if it is down.
   */
  waitForReady?: boolean;
}

export interface RpcServer {
  /** The name of the server in errors, such as `etcd at https://127.0.0.1:2379`. */
  name: string;
  /** `host:port` or `unix:/path`. */
  address: string;
  credentials: ChannelCredentials;
  /** Sent as the TLS server name (SNI) in place of the address's host. */
  tlsServerName?: string;
  /** Metadata of every call. */
  metadata?: Readonly<Record<string, string>>;
  descriptor: Descriptor;
}

/** One method; the schema gives the decoded response its type. */
export interface Method<T> {
  /** `/package.Service/Method` */
  path: string;
  response: z.ZodType<T>;
}

/** Larger than any list of containers or images; snapshots come in small pieces. */
const maxMessageBytes = 64 << 20;
/**
 * How much a server may send before it must wait. Node's default of 64 KiB is two
 * pieces of a snapshot, after which the sender stalls until this process is scheduled.
 */
const receiveWindowBytes = 4 << 20;

/**
 * A gRPC client for a hand-written descriptor. Calls end at their deadline or
 * with the signal's reason; everything else thrown is an RpcFailure.
 */
export class RpcClient {
  readonly #server: RpcServer;
  readonly #client: Client;
  readonly #methods: ReadonlyMap<string, MethodDefinition<object, object>>;

  constructor(server: RpcServer) {
    this.#server = server;
    this.#methods = methodsOf(server.descriptor);
    this.#client = new Client(server.address, server.credentials, {
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc-node.flow_control_window': receiveWindowBytes,
      // A server that has just started must be found at once, not after a long back-off.
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1000,
      ...(server.tlsServerName === undefined
        ? {}
        : { 'grpc.ssl_target_name_override': server.tlsServerName }),
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async unary<T>(method: Method<T>, request: object, limits: CallLimits): Promise<T> {
    const { requestSerialize, responseDeserialize } = this.#definition(method.path);
    limits.signal.throwIfAborted();
    let cancel = () => {};
    try {
      const message = await new Promise<unknown>((resolve, reject) => {
        const call = this.#client.makeUnaryRequest(
          method.path,
          requestSerialize,
          responseDeserialize,
          request,
          this.#metadata(limits),
          callOptions(limits),
          (error, response) => (error === null ? resolve(response) : reject(error)),
        );
        cancel = () => call.cancel();
        limits.signal.addEventListener('abort', cancel, { once: true });
      });
      return method.response.parse(message);
    } catch (error) {
      throw this.#explain(method.path, error, limits);
    } finally {
      limits.signal.removeEventListener('abort', cancel);
    }
  }

  /**
   * The messages of a server stream, read from the connection only as fast as they
   * are consumed.
   */
  serverStream<T>(method: Method<T>, request: object, limits: CallLimits): AsyncGenerator<T> {
    const { requestSerialize, responseDeserialize } = this.#definition(method.path);
    const start = () =>
      this.#client.makeServerStreamRequest(
        method.path,
        requestSerialize,
        responseDeserialize,
        request,
        this.#metadata(limits),
        callOptions(limits),
      );
    return this.#messages(method, start, limits);
  }

  /** The responses to one request on a two-way stream that stays open until the consumer stops. */
  openStream<T>(method: Method<T>, request: object, limits: CallLimits): AsyncGenerator<T> {
    const { requestSerialize, responseDeserialize } = this.#definition(method.path);
    const start = () => {
      const call = this.#client.makeBidiStreamRequest(
        method.path,
        requestSerialize,
        responseDeserialize,
        this.#metadata(limits),
        callOptions(limits),
      );
      call.write(request);
      return call;
    };
    return this.#messages(method, start, limits);
  }

  async *#messages<T>(
    method: Method<T>,
    start: () => ClientReadableStream<object> | ClientDuplexStream<object, object>,
    limits: CallLimits,
  ): AsyncGenerator<T> {
    limits.signal.throwIfAborted();
    const call = start();
    const cancel = () => call.cancel();
    // Cancelling makes grpc-js emit an error after the last reader has left.
    call.on('error', () => {});
    limits.signal.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of call) yield method.response.parse(message);
    } catch (error) {
      throw this.#explain(method.path, error, limits);
    } finally {
      limits.signal.removeEventListener('abort', cancel);
      cancel();
    }
  }

  #metadata({ waitForReady = false }: CallLimits): Metadata {
    const metadata = new Metadata({ waitForReady });
    for (const [name, value] of Object.entries(this.#server.metadata ?? {})) {
      metadata.set(name, value);
    }
    return metadata;
  }

  #explain(path: string, error: unknown, { signal }: CallLimits): unknown {
    return signal.aborted ? signal.reason : rpcFailure(this.#server.name, methodName(path), error);
  }

  #definition(path: string): MethodDefinition<object, object> {
    const definition = this.#methods.get(path);
    if (definition === undefined) throw new Error(`The descriptor has no method ${path}`);
    return definition;
  }
}

/** By descriptor: protobufjs compiles a codec for each message. */
const compiled = new WeakMap<Descriptor, ReadonlyMap<string, MethodDefinition<object, object>>>();

function methodsOf(descriptor: Descriptor): ReadonlyMap<string, MethodDefinition<object, object>> {
  const known = compiled.get(descriptor);
  if (known !== undefined) return known;
  const definitions = fromJSON(descriptor, {
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
  });
  const methods = Object.values(definitions)
    .flatMap((definition): unknown[] => Object.values(definition))
    .filter(isMethod);
  const made = new Map(methods.map((method) => [method.path, method]));
  compiled.set(descriptor, made);
  return made;
}

function isMethod(value: unknown): value is MethodDefinition<object, object> {
  return typeof value === 'object' && value !== null && 'path' in value && 'requestStream' in value;
}

function methodName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function callOptions({ deadlineMs }: CallLimits): CallOptions {
  return { deadline: Date.now() + deadlineMs };
}
