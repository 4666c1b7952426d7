import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { criDescriptor } from '../../../../lib/clients/cri/descriptor.ts';

/** A runtime's answers, by CRI method name. */
export type Handlers = Readonly<Record<string, (request: unknown) => object | Promise<object>>>;

const definition = fromJSON(criDescriptor, { longs: String, enums: String, defaults: true });

/** A runtime at that socket with fixed answers; other calls are UNIMPLEMENTED. */
export async function serveRuntime(socket: string, handlers: Handlers): Promise<Server> {
  const server = new Server();
  for (const service of Object.values(definition)) {
    if ('format' in service) continue;
    const unary = Object.entries(service).filter(([name]) => name in handlers);
    if (unary.length === 0) continue;
    server.addService(
      Object.fromEntries(unary),
      Object.fromEntries(
        unary.map(([name]) => [
          name,
          async (
            call: { request: unknown },
            answer: (error: object | null, value?: object) => void,
          ) => {
            try {
              answer(null, await handlers[name]?.(call.request));
            } catch (error) {
              answer({ code: status.NOT_FOUND, details: String(error) });
            }
          },
        ]),
      ),
    );
  }
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return server;
}
