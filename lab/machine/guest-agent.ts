import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { waitUntil } from '../../lib/base/wait/wait-until.ts';
import { ENVIRONMENT, type ExecResult, KILLED_BY_TIMEOUT } from '../host/exec.ts';
import { JsonLines } from './json-lines.ts';

/** It answers at once, unless the machine is starved. */
const ANSWER_MS = 30_000;
const PING_MS = 2_000;
/** The guest works, and writes a line to its journal, for each look. */
const LOOK_EVERY_MS = { first: 100, last: 2000 } as const;
const SIGKILL = 9;

const startedSchema = z.object({ pid: z.number() });
const statusSchema = z.object({
  exited: z.boolean(),
  exitcode: z.number().optional(),
  signal: z.number().optional(),
  'out-data': z.base64().default(''),
  'err-data': z.base64().default(''),
  'out-truncated': z.boolean().optional(),
});

type Status = z.infer<typeof statusSchema>;

export interface Execution {
  readonly timeoutMs: number;
  readonly input?: string | Uint8Array | undefined;
}

/** qemu's agent in the guest, through which the lab runs programs there (qga/qapi-schema.json). */
export class GuestAgent {
  readonly #lines: JsonLines;

  private constructor(lines: JsonLines) {
    this.#lines = lines;
  }

  /** `socket`: the other end of its port, which is there before the agent is. */
  static async connect(
    socket: string,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<GuestAgent> {
    return new GuestAgent(await JsonLines.connect(socket, deadlineMs, signal));
  }

  /** Whether it answers now. */
  async isUp(): Promise<boolean> {
    return this.#lines.request('guest-ping', {}, PING_MS).then(
      () => true,
      () => false,
    );
  }

  /**
   * Runs a program in the guest; returns its result, whatever its exit code.
   *
   * @throws Failure (deadline) if it did not end in time; it is killed then
   */
  async exec(
    argv: readonly string[],
    { timeoutMs, input }: Execution,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    signal.throwIfAborted();
    const started = await this.#lines.request(
      'guest-exec',
      {
        path: '/usr/bin/timeout',
        arg: ['--signal=KILL', `${timeoutMs / 1000}`, ...argv],
        env: ENVIRONMENT,
        ...(input === undefined ? {} : { 'input-data': Buffer.from(input).toString('base64') }),
        'capture-output': true,
      },
      ANSWER_MS,
    );
    const { pid } = startedSchema.parse(started);
    const status = await this.#ended(pid, argv, timeoutMs, signal);
    if (status['out-truncated']) {
      throw new Failure('fatal', `${argv.join(' ')} printed more than the guest agent takes`);
    }
    const stderr = decode(status['err-data']);
    if (status.exitcode === KILLED_BY_TIMEOUT || status.signal === SIGKILL) {
      throw notEnded(argv, timeoutMs, stderr.slice(-500));
    }
    return { stdout: decode(status['out-data']), stderr, exitCode: status.exitcode ?? 255 };
  }

  close(): void {
    this.#lines.close();
  }

  /** Its own deadline: a process whose disk does not answer cannot be killed. */
  async #ended(
    pid: number,
    argv: readonly string[],
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Status> {
    let everyMs: number = LOOK_EVERY_MS.first / 2;
    const ended = async () => {
      const answer = await this.#lines.request('guest-exec-status', { pid }, ANSWER_MS);
      const status = statusSchema.parse(answer);
      everyMs = Math.min(everyMs * 2, LOOK_EVERY_MS.last);
      return status.exited ? { met: status } : { state: 'it runs' };
    };
    return waitUntil(ended, {
      signal,
      deadlineMs: timeoutMs + ANSWER_MS,
      everyMs: () => everyMs,
      late: () => notEnded(argv, timeoutMs),
    });
  }
}

const notEnded = (argv: readonly string[], timeoutMs: number, found = 'no end'): Failure =>
  new Failure('deadline', `${argv.join(' ')} did not end in the machine`, {
    expected: `within ${timeoutMs / 1000}s`,
    found,
  });

/** Without the last line's end, as execa returns it for a host in a container. */
const decode = (base64: string): string =>
  Buffer.from(base64, 'base64').toString('utf8').replace(/\n$/, '');
