import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import { stateFile } from '../../host/state-file.ts';

/** `/run/sno-agents/<agent>/status.json`: the state of an agent, for programs. */
export const statusSchema = z.object({
  schemaVersion: z.literal(1),
  version: z.string().describe('of the product'),
  agent: z.string(),
  unit: z.string(),
  state: z.enum(['running', 'done', 'failed', 'reboot', 'stopped']),
  updated: z.string(),
  step: z
    .object({
      name: z.string(),
      number: z.number(),
      of: z.number(),
      attempt: z.number(),
      since: z.string(),
      until: z.string(),
      waitingFor: z.string().optional(),
      trouble: z
        .string()
        .optional()
        .describe('why what is waited for does not come, if that is known'),
    })
    .optional(),
  /** How long it has worked, and how long such work usually takes, if that is known. */
  pace: z.object({ elapsedSeconds: z.number(), usualSeconds: z.number() }).optional(),
  /** Why the agent stopped, unless it succeeded. */
  reason: z.string().optional(),
  /** The same as data, if it failed. */
  failure: failureDataSchema.optional(),
  exitCode: z.number().optional(),
});

export type AgentStatus = z.infer<typeof statusSchema>;

const fileAt = (path: string) =>
  stateFile(path, statusSchema, { damaged: 'none', mode: 0o644, isIndented: true });

/** Publishes the status; of concurrent updates the newest wins. */
export class StatusFile {
  readonly #path: string;
  readonly #written: () => Promise<void>;
  #next: AgentStatus | undefined;
  #writing: Promise<void> | undefined;

  /** `written` is called after each change, and must not reject. */
  constructor(path: string, written: () => Promise<void>) {
    this.#path = path;
    this.#written = written;
  }

  publish(status: AgentStatus): void {
    this.#next = status;
    this.#writing ??= this.#write();
  }

  async flush(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#next !== undefined) {
      const status = this.#next;
      this.#next = undefined;
      try {
        await fileAt(this.#path).write(status);
      } catch {
        // A full /run must not fail an installation; the journal has the same facts.
      }
      await this.#written();
    }
    this.#writing = undefined;
  }
}

export const readStatus = (path: string): Promise<AgentStatus | undefined> => fileAt(path).read();
