import { type EventFields, eventLine, journalEntry } from './journal-event.ts';
import { JournaldWriter, writesToJournal } from './journald.ts';
import { withPriority } from './line.ts';
import { createLogger, type Logger } from './logger.ts';
import { EVENTS, type EventName } from './message-ids.ts';
import { OrderedOutput } from './ordered-output.ts';

/** Receives the events of an agent and its steps. */
export interface EventLog {
  /**
   * Writes one event. `sentence` contains everything that a person has to know;
   * programs read the fields. Resolves when the event is written and never rejects.
   * Later log lines are written after it, even without awaiting it.
   */
  event(name: EventName, sentence: string, fields?: EventFields): Promise<void>;
}

/** Log lines and events of an agent, in one order. */
export interface AgentLog {
  readonly log: Logger;
  readonly events: EventLog;
}

export interface AgentLogOptions {
  /** Where lines go; standard output by default. */
  readonly write?: (line: string) => void;
  /** Whether standard output is connected to journald. */
  readonly isJournal?: boolean;
  /** Writes an entry with fields. */
  readonly journald?: Pick<JournaldWriter, 'send'>;
}

/**
 * Opens the log and the events of an agent. If journald receives them, an event is
 * an entry with a MESSAGE_ID and fields; elsewhere, and if that cannot be written,
 * it is a line like any other. Never both.
 */
export function openAgentLog(agent: string, options: AgentLogOptions = {}): AgentLog {
  const {
    write = (line: string) => void process.stdout.write(line),
    isJournal = writesToJournal(),
    journald = new JournaldWriter(),
  } = options;
  const output = new OrderedOutput(write);
  const log = createLogger({ write: (line) => output.line(line), priorities: isJournal });
  return {
    log,
    events: {
      async event(name, sentence, fields = {}) {
        const line = eventLine(sentence, fields);
        if (!isJournal) return output.line(`${line}\n`);
        const entry = journalEntry(name, { agent, pid: process.pid }, sentence, fields);
        return output.entry({
          send: () => journald.send(entry),
          fallback: `${withPriority(line, EVENTS[name].priority)}\n`,
        });
      },
    },
  };
}
