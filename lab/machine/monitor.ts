import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { JsonLines } from './json-lines.ts';

const ANSWER_MS = 30_000;

const shutdownSchema = z.object({ reason: z.string() });

interface Awaited {
  readonly event: string;
  matches(data: unknown): boolean;
  resolve(): void;
}

/** qemu's monitor (QMP): power, media and devices of a running machine. */
export class Monitor {
  readonly #lines: JsonLines;
  #shutdownReason: string | undefined;
  #awaited: readonly Awaited[] = [];

  private constructor(lines: JsonLines) {
    this.#lines = lines;
    lines.onEvent = (event, data) => this.#happened(event, data);
  }

  static async connect(socket: string, deadlineMs: number, signal: AbortSignal): Promise<Monitor> {
    const lines = await JsonLines.connect(socket, deadlineMs, signal);
    const monitor = new Monitor(lines);
    await lines.request('qmp_capabilities', {}, ANSWER_MS);
    return monitor;
  }

  /** Why the machine went down, in qemu's words, such as `guest-reset`; undefined while it is up, and if qemu was killed. */
  get shutdownReason(): string | undefined {
    return this.#shutdownReason;
  }

  /** Gives a command of QMP and returns what it answers (qapi/*.json). */
  execute(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    return this.#lines.request(command, args, ANSWER_MS);
  }

  /** The next event of this name whose data match. Ask before doing what causes it. */
  async next(
    event: string,
    matches: (data: unknown) => boolean,
    deadlineMs: number,
  ): Promise<void> {
    const happened = Promise.withResolvers<void>();
    const awaited = { event, matches, resolve: happened.resolve };
    this.#awaited = [...this.#awaited, awaited];
    const late = setTimeout(() => {
      const expected = `${event} within ${deadlineMs / 1000}s`;
      happened.reject(new Failure('deadline', 'the machine did not react', { expected }));
    }, deadlineMs);
    try {
      await happened.promise;
    } finally {
      clearTimeout(late);
      this.#awaited = this.#awaited.filter((each) => each !== awaited);
    }
  }

  close(): void {
    this.#lines.close();
  }

  #happened(event: string, data: unknown): void {
    if (event === 'SHUTDOWN') this.#shutdownReason = shutdownSchema.parse(data).reason;
    for (const awaited of this.#awaited) {
      if (awaited.event === event && awaited.matches(data)) awaited.resolve();
    }
  }
}
