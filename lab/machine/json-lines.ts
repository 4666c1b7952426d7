import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { succeeds, waitUntil } from '../../lib/base/wait/wait-until.ts';

/** Between two attempts to reach a socket that qemu has not made yet. */
const CONNECT_EVERY_MS = 50;

/** A line of qemu or of its guest agent: an answer, an error or an event (docs/interop/qmp-spec.rst). */
const messageSchema = z.looseObject({
  id: z.number().optional(),
  return: z.unknown().optional(),
  error: z.object({ class: z.string(), desc: z.string() }).optional(),
  event: z.string().optional(),
  data: z.unknown().optional(),
});

type Message = z.infer<typeof messageSchema>;
type Arguments = Readonly<Record<string, unknown>>;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * A connection that speaks JSON, one object per line, as qemu's monitor (QMP) and its guest agent do. Own code: the
 * libraries for it are no longer kept.
 */
export class JsonLines {
  /** Called with the name and the data of each event. */
  onEvent: (event: string, data: unknown) => void = () => undefined;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => this.#end());
    const lines = createInterface({ input: socket });
    // The same error again.
    lines.on('error', () => undefined);
    lines.on('line', (line) => this.#receive(line));
  }

  /** Connects to a unix socket as soon as it is there. */
  static async connect(path: string, deadlineMs: number, signal: AbortSignal): Promise<JsonLines> {
    signal.throwIfAborted();
    return waitUntil(
      succeeds(async () => new JsonLines(await connected(path))),
      {
        signal,
        deadlineMs,
        everyMs: CONNECT_EVERY_MS,
        late: ({ cause }) => new Failure('deadline', `${path} does not answer`, { cause }),
      },
    );
  }

  /**
   * Gives a command and returns what it answers.
   *
   * @throws Failure (retry) if the other side refuses it or has ended; (deadline) if it does not answer
   */
  async request(command: string, args: Arguments, deadlineMs: number): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    if (!this.#socket.writable) throw hasEnded();
    this.#pending.set(id, answer);
    const late = setTimeout(() => {
      answer.reject(
        new Failure('deadline', `${command} was not answered`, {
          expected: `within ${deadlineMs / 1000}s`,
        }),
      );
    }, deadlineMs);
    try {
      this.#socket.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`);
      return await answer.promise;
    } finally {
      clearTimeout(late);
      this.#pending.delete(id);
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(line: string): void {
    const message = parse(line);
    if (message === undefined) return;
    if (message.event !== undefined) this.onEvent(message.event, message.data);
    if (message.id === undefined) return;
    const pending = this.#pending.get(message.id);
    if (message.error === undefined) pending?.resolve(message.return);
    else {
      const { desc } = message.error;
      pending?.reject(new Failure('retry', 'the machine refused a command', { found: desc }));
    }
  }

  #end(): void {
    for (const { reject } of this.#pending.values()) reject(hasEnded());
  }
}

const hasEnded = () => new Failure('retry', 'the machine has ended');

/** undefined: the agent was ended in the middle of a line, which another one continued. */
function parse(line: string): Message | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
