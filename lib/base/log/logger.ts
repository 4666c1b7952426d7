import { type Logger, pino } from 'pino';
import { writesToJournal } from './journald.ts';
import { formatLine } from './line.ts';

export type { Logger };

export interface LoggerOptions {
  /** Where lines go; standard output by default. */
  write?: (line: string) => void;
  /**
   * Whether lines begin with the syslog priority that journald reads (`<6>`).
   * Default: if journald reads them.
   */
  priorities?: boolean;
}

/**
 * The agents' logger: one event per line, a sentence followed by its fields.
 * Redacts secrets in everything that it is given.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const priorities = options.priorities ?? writesToJournal();
  const write = options.write ?? ((line: string) => void process.stdout.write(line));
  return pino(
    { base: null, timestamp: false, serializers: {}, level: priorities ? 'debug' : 'info' },
    { write: (json: string) => write(`${formatLine(json, priorities)}\n`) },
  );
}
