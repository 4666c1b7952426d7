/** A program that should run, and has ended. */
export interface Exit {
  /** For people: `kubelet.service`, `the container etcd`. */
  readonly of: string;
  /** Another one for each time that it ends. */
  readonly id: string;
  readonly status: number;
  /** The last error that it printed, in one line, without secrets; empty if it is not known. */
  readonly error: string;
  /** The command that shows more. */
  readonly see: string;
}

/** For people, behind who it was. */
export const howItEnded = ({ status, error }: Pick<Exit, 'status' | 'error'>): string =>
  `with exit status ${status}${error === '' ? '' : `: ${error}`}`;

/** The kubelet of a host that is slow may end three times before something that it reads is there. */
const LEAST_EXITS = 4;
const LEAST_MS = 30_000;

/**
 * Errors whose cause may go away without anybody: another program that does not answer yet, an address that is not configured
 * yet, a port whose last owner has not ended, a clock that is not set, a disk that is full.
 */
const PASSING =
  /refused|deadline exceeded|\btimed out\b|\btimeout\b|\.sock\b|unavailable|transport is closing|(?<!unexpected )\bEOF\b|reset by peer|broken pipe|cannot assign requested address|address already in use|no route to host|unreachable|no such host|name resolution|try again|resource busy|no space left|too many open files|cannot allocate memory|not yet valid|has expired/i;

export const isPassing = ({ error }: Pick<Exit, 'error'>): boolean => PASSING.test(error);

/** The same error of two processes differs in numbers: of processes, ports, addresses in memory. */
export const sameExit = (a: Exit, b: Exit): boolean =>
  a.of === b.of && a.status === b.status && withoutNumbers(a.error) === withoutNumbers(b.error);

const withoutNumbers = (text: string): string => text.replace(/0x[0-9a-f]+|\d+/gi, '#');

/**
 * Whether a program will end for the same reason for ever. That is assumed after four exits in a row, within at least half a
 * minute, with the same status and the same last error, unless that error is of a kind that passes, or is not known. Status 1
 * alone says nothing: a kubelet has it while its container runtime starts.
 */
export class RepeatedExits {
  #last: Exit | undefined;
  #ids = new Set<string>();
  #firstMs = 0;

  /** Takes in how it has ended last, at a moment in milliseconds of a clock that only goes forward. */
  isPermanent(exit: Exit, nowMs: number): boolean {
    if (this.#last === undefined || !sameExit(this.#last, exit)) {
      this.#ids = new Set();
      this.#firstMs = nowMs;
    }
    this.#last = exit;
    this.#ids.add(exit.id);
    return (
      this.count >= LEAST_EXITS &&
      nowMs - this.#firstMs >= LEAST_MS &&
      exit.error !== '' &&
      !isPassing(exit)
    );
  }

  /** How often it has ended in this way. */
  get count(): number {
    return this.#ids.size;
  }
}
