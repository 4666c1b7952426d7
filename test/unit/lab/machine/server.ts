import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const requestSchema = z.object({
  id: z.number(),
  execute: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

export type Request = z.infer<typeof requestSchema>;

/** The part of a test that is needed to take the server away again. */
interface Test {
  teardown(undo: () => Promise<void>): void;
}

/** A server of lines of JSON at a unix socket, as qemu and its guest agent are. Returns the socket's path. */
export async function serveLines(
  t: Test,
  answer: (request: Request, socket: Socket) => void,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lines-'));
  const path = join(folder, 'socket');
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    createInterface({ input: socket }).on('line', (line) => {
      answer(requestSchema.parse(JSON.parse(line)), socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });
  return path;
}

export const say = (socket: Socket, message: object): void => {
  socket.write(`${JSON.stringify(message)}\r\n`);
};
