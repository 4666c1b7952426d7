import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { journalPath } from '../../../../lib/engine/steps/agent-command.ts';
import { type JournalEntry, readJournal } from '../../../../lib/engine/steps/journal.ts';
import { statusPath } from '../../../../lib/engine/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../../../../lib/engine/steps/status.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

const program = join(import.meta.dirname, 'fixtures/agent.ts');
/** Halves the time of each of the many starts. */
const NODE_COMPILE_CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/compile');

/** The result of a run of the fixture agent. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The fixture agent with its own root. */
export class Tester {
  readonly root: string;
  readonly journal: string;
  readonly status: string;
  readonly record: string;

  constructor(root: string) {
    this.root = root;
    const paths = hostPaths(root);
    this.journal = journalPath(paths, 'tester');
    this.status = statusPath(paths, 'tester');
    this.record = `${paths.serviceRecords}/tester-unit.json`;
  }

  start(args: readonly string[], env: Record<string, string> = {}): Running {
    const { NOTIFY_SOCKET: _socket, JOURNAL_STREAM: _stream, ...plain } = process.env;
    return new Running(
      spawn(process.execPath, [program, this.root, ...args], {
        env: { ...plain, NODE_COMPILE_CACHE, ...env },
      }),
    );
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  entries(): Promise<JournalEntry[]> {
    return readJournal(this.journal);
  }

  /** The journal as `step event` words. */
  async story(): Promise<string[]> {
    return (await this.entries()).map(({ step, event }) => `${step} ${event}`);
  }

  /** The names of the steps that actually ran, in order. */
  ran(): string[] {
    return this.trace().map(([name = '']) => name);
  }

  trace(): string[][] {
    const path = join(this.root, 'trace');
    if (!existsSync(path)) return [];
    return readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '));
  }

  readStatus(): Promise<AgentStatus | undefined> {
    return readStatus(this.status);
  }

  /** The status once it satisfies the predicate; throws after at least two minutes. */
  async statusWhen(question: (status: AgentStatus) => boolean): Promise<AgentStatus> {
    for (let round = 0; round < 6000; round++) {
      const status = await this.readStatus();
      if (status !== undefined && question(status)) return status;
      await sleep(20);
    }
    throw new Error(`the status stayed ${JSON.stringify(await this.readStatus())}`);
  }
}

class Running {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(child: ChildProcess) {
    this.#child = child;
    const guard = setTimeout(() => child.kill('SIGKILL'), 120_000);
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (part: string) => {
        text[name] += part;
      });
    }
    this.ended = once(child, 'close').then(([code, signal]) => {
      clearTimeout(guard);
      return { code, signal, ...text };
    });
  }

  kill(signal: NodeJS.Signals): Promise<Ended> {
    this.#child.kill(signal);
    return this.ended;
  }
}
