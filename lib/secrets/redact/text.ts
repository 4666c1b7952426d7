import type { Budget, BudgetLimits } from '../bytes/budget.ts';
import { beginsPrivateKey } from '../bytes/private-keys.ts';
import { base64Groups, type Group } from './base64-runs.ts';
import { decodedBlob } from './blobs.ts';
import { isBareSecret, reencoded } from './data-urls.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, replaced, type SecretFinding } from './finding.ts';
import type { KnownSecrets } from './known.ts';
import { settledBytes } from './line-part.ts';
import type { Marks } from './marks.ts';
import { type NumberRun, numberRuns } from './number-runs.ts';
import { bareBase64 } from './pem.ts';
import type { RuleFindings, Safe, Secret, SecretRule, Span } from './rule.ts';
import type { TriggerPlace, TriggerSearch } from './triggers.ts';
import { Unwrapped } from './unwrap.ts';

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

/** For all that is in one text in base64 or percent-encoding: a fraction of a second of work. */
const LINE_LIMITS = { bytes: 4 << 20, perByte: 0, ms: 2_000 } as const;
/**
 * For a stream: beyond it, encoded text is taken out without a look. A document in a document in
 * a document; deeper nobody looks.
 */
export const STREAM_LIMITS: BudgetLimits = { bytes: 8 << 20, perByte: 1, depth: 3 };
/** No more is held back: memory must be bounded, and lines that belong together can be long. */
const MAX_HELD = 1 << 21;

/** The means to find secrets and to replace them. */
export interface TextMeans {
  readonly known: KnownSecrets;
  readonly triggers: TriggerSearch;
  readonly marks: Marks;
}

/** What the work on a stream, at all depths of what it encodes, may take. */
export interface TextLimits {
  readonly budget: Budget;
  readonly effort: Pick<Effort, 'block' | 'isSpent' | 'end'>;
  /** For the search for known secrets, so that it leaves the rules theirs; by default they share one. */
  readonly search?: TextLimits['effort'];
}

/** What the rules find in a block. */
interface InBlock {
  /** Findings with the mark of a whole secret, which come before others of the same place. */
  readonly whole: SecretFinding[];
  readonly others: SecretFinding[];
  /** Where lines begin whose meaning the next block decides. */
  readonly openFrom: number[];
  /** From a line to the end of a secret on a later line: only together do they reveal it. In order. */
  readonly joined: Span[];
}

/**
 * Removes secrets from text, block by block. What may continue in the next block, such as a
 * private key, is held back until that block is known.
 */
export class TextRedactor {
  readonly #means: TextMeans;
  readonly #limits: TextLimits;
  readonly #depth: number;
  #held: Buffer = EMPTY;
  /** Bytes of what is held that were looked at already. */
  #seen = 0;

  constructor(means: TextMeans, limits: TextLimits, depth = 0) {
    this.#means = means;
    this.#limits = limits;
    this.#depth = depth;
  }

  /** Whole lines, or a part of one that is too long. */
  push(block: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? block : Buffer.concat([this.#held, block]);
    // What is held is looked at again only when as much has been added: not for each block.
    if (bytes.length < 2 * this.#seen) {
      this.#held = bytes;
      return EMPTY;
    }
    const { findings, complete } = this.#scan(bytes, false);
    this.#held = bytes.subarray(complete);
    this.#seen = this.#held.length;
    const inside = findings
      .filter(({ start }) => start < complete)
      .map((finding) => ({ ...finding, end: Math.min(finding.end, complete) }));
    return replaced(bytes.subarray(0, complete), inside);
  }

  /** Returns what was held back, and starts again with nothing. */
  end(): Buffer {
    const bytes = this.#held;
    this.#held = EMPTY;
    this.#seen = 0;
    return this.whole(bytes);
  }

  /** Redacts a complete text; returns the same bytes if there is nothing to hide. */
  whole(bytes: Buffer): Buffer {
    return replaced(bytes, this.#scan(bytes, true).findings);
  }

  #scan(bytes: Buffer, isLast: boolean): { findings: SecretFinding[]; complete: number } {
    const { effort, search = effort } = this.#limits;
    const groups = base64Groups(bytes);
    const numbers = [...numberRuns(bytes)];
    const known = this.#within(search, bytes, () => this.#means.known.find(bytes, search));
    const found = this.#within(effort, bytes, () => this.#byRules(bytes));
    // Findings with the secret's own mark come first.
    const findings = [
      ...known,
      ...found.whole,
      ...found.others,
      ...groups.flatMap((group) => this.#inBlob(bytes, group)),
      ...numbers.flatMap((run) => this.#inNumbers(run)),
    ];
    const open = [
      ...found.openFrom,
      ...[...groups, ...numbers].flatMap(({ openFrom }) => openFrom ?? []),
    ];
    const joined = [...found.joined, ...numbers].sort((a, b) => a.start - b.start);
    const complete = isLast ? bytes.length : undivided(unheld(bytes, findings, open), joined);
    return { findings, complete };
  }

  /** Work on a block; what is inside it uses what it has. */
  #within<T>(effort: TextLimits['effort'], { length }: Buffer, work: () => T): T {
    if (this.#depth > 0) return work();
    effort.block(length);
    const done = work();
    effort.end();
    return done;
  }

  /** What the rules find where their triggers stand. */
  #byRules(bytes: Buffer): InBlock {
    const found: InBlock = { whole: [], others: [], openFrom: [], joined: [] };
    /** By rule: the offset up to which it need not look again. */
    const done = new Map<SecretRule, number>();
    let last: Span = { start: 0, end: 0 };
    let line = NO_LINE;
    let unwrapped: Unwrapped | undefined;
    for (const place of this.#means.triggers.find(bytes)) {
      const { offset, rule } = place;
      if (this.#limits.effort.isSpent()) {
        found.others.push({ start: offset, end: bytes.length, by: LEFT_OUT });
        break;
      }
      if ((offset >= last.start && offset < last.end) || offset < (done.get(rule) ?? 0)) continue;
      let inBytes: RuleFindings;
      if (rule.inText !== undefined) {
        unwrapped ??= new Unwrapped(bytes.toString('latin1'));
        inBytes = inUnwrapped(unwrapped, place);
      } else {
        if (offset >= line.end) line = lineAt(bytes, offset);
        inBytes = this.#inLine(line, place);
      }
      done.set(rule, inBytes.next);
      last = this.#add(found, bytes, place, inBytes) ?? last;
    }
    return found;
  }

  #inLine({ start, text }: typeof NO_LINE, { offset, rule }: TriggerPlace): RuleFindings {
    const inside = (decoded: string) =>
      this.#inside((budget) => {
        const document = Buffer.from(decoded, 'latin1');
        if (budget.spend(document.length)) return this.#safe(document, budget);
        return { text: '', mark: this.#markOfAll(document) };
      });
    const found = rule.inLine?.(text, offset - start, inside) ?? { next: 0, secrets: [] };
    const secrets = found.secrets.map((secret) => ({
      ...secret,
      start: start + secret.start,
      end: start + secret.end,
    }));
    return { next: start + found.next, secrets };
  }

  /** Takes over what is found at a place; the last of it. */
  #add(found: InBlock, bytes: Buffer, { offset }: TriggerPlace, { secrets, isOpen }: RuleFindings) {
    if (secrets.length === 0 && isOpen !== true) return undefined;
    const lineStart = bytes.lastIndexOf(NEWLINE, offset) + 1;
    if (isOpen === true) found.openFrom.push(lineStart);
    let last: SecretFinding | undefined;
    for (const secret of secrets) {
      const { start, end, means } = secret;
      // A document that has been redacted can be encoded again.
      if (bytes.subarray(start, start + MARKED.length).equals(MARKED)) continue;
      last = { start, end, by: this.#markOf(bytes, secret) };
      (means === undefined ? found.others : found.whole).push(last);
      if (bytes.subarray(offset, start).includes(NEWLINE)) {
        found.joined.push({ start: lineStart, end });
      }
    }
    return last;
  }

  #markOf(bytes: Buffer, { start, end, means, mark, certainty }: Secret): string {
    const text = means ?? meaning(bytes.toString('latin1', start, end));
    return mark ?? this.#means.marks.of(text, certainty);
  }

  #inBlob(bytes: Buffer, { runs }: Group): SecretFinding[] {
    const [first] = runs;
    if (first === undefined) return [];
    const text = runs.map(({ start, end }) => bytes.toString('latin1', start, end)).join('');
    const by = this.#inside((budget) => {
      const document = decodedBlob(text, budget);
      if (document === 'secret') return this.#means.marks.of(bareBase64(text), 'key');
      if (document === undefined) return undefined;
      const isFile = runs.length === 1 && isInDataUrl(bytes, first.start);
      const only = document.toString('utf8').trim();
      if (isFile && isBareSecret(only)) return this.#means.marks.of(only);
      const safe = this.#safe(document, budget);
      return isFile && safe !== undefined ? reencoded(text, safe.text) : safe?.mark;
    });
    return by === undefined ? [] : runs.map((run) => ({ ...run, by }));
  }

  #inNumbers({ start, end, meanings }: NumberRun): SecretFinding[] {
    const by = this.#inside((budget) => {
      for (const document of meanings) {
        if (beginsPrivateKey(document))
          return this.#means.marks.of(bareBase64(document.toString('base64')), 'key');
        if (!budget.spend(document.length)) return this.#markOfAll(document);
        const safe = this.#safe(document, budget);
        if (safe !== undefined) return safe.mark;
      }
      return undefined;
    });
    return by === undefined ? [] : [{ start, end, by }];
  }

  /** What is found in encoded text, all levels of which have one budget. Nothing at the last level. */
  #inside<T>(search: (budget: Budget) => T): T | undefined {
    const { budget } = this.#limits;
    if (this.#depth >= budget.limits.depth) return undefined;
    return search(this.#depth === 0 ? budget.part(LINE_LIMITS) : budget);
  }

  /** What was encoded, without its secrets; undefined if there are none. */
  #safe(document: Buffer, budget: Budget): Safe | undefined {
    const redactor = new TextRedactor(this.#means, { ...this.#limits, budget }, this.#depth + 1);
    const safe = redactor.whole(document);
    if (safe === document) return undefined;
    const text = safe.toString('latin1');
    // The secret's own mark, if there is nothing else.
    return { text, mark: ONLY_MARK.exec(text)?.groups?.mark ?? this.#markOfAll(document) };
  }

  #markOfAll(document: Buffer): string {
    return this.#means.marks.of(document.toString('utf8'), 'document');
  }
}

const NO_LINE = { start: 0, end: -1, text: '' };

function lineAt(bytes: Buffer, offset: number): typeof NO_LINE {
  const start = bytes.lastIndexOf(NEWLINE, offset) + 1;
  const newline = bytes.indexOf(NEWLINE, start);
  const end = newline === -1 ? bytes.length : newline;
  return { start, end, text: bytes.toString('latin1', start, end) };
}

/** What a rule finds in unwrapped text, where it is in the block: each line of a secret alone. */
function inUnwrapped(unwrapped: Unwrapped, { offset, length, rule }: TriggerPlace): RuleFindings {
  const at = unwrapped.at(offset);
  const found = rule.inText?.(unwrapped.text, at, length) ?? { next: at, secrets: [] };
  const secrets = found.secrets.map((secret) => ({ ...secret, ...unwrapped.rawOf(secret) }));
  const next = unwrapped.rawOf({ start: Math.max(0, found.next - 1), end: found.next }).end;
  return { ...found, secrets, next };
}

/** How a mark begins. */
const MARKED = Buffer.from('<redacted:');
const ONLY_MARK = /^(?<mark><redacted:[0-9a-f]+>)(?:\s+\k<mark>)*\s*$/;

/** Whether a file's contents begin there, which can be shown without their secrets. */
const isInDataUrl = (bytes: Buffer, start: number) =>
  bytes.toString('latin1', start - 8, start) === ';base64,';

/** What can stand between the quotes of a JSON string; asked first, since an error takes a hundred times as long. */
const IN_QUOTES = /^(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/u;

/** What a secret's mark is made of: the same for one that is quoted, and quoted again. */
function meaning(latin1: string): string {
  let text = Buffer.from(latin1, 'latin1').toString('utf8');
  while (text.includes('\\') && IN_QUOTES.test(text)) text = String(JSON.parse(`"${text}"`));
  return text;
}

/** An offset, not after `settled`, that divides no span, unless a chain of spans is too long. */
const undivided = (settled: number, spans: readonly Span[]) =>
  spans.reduceRight(
    (at, { start, end }) => (start < at && at < end && settled - start <= MAX_HELD ? start : at),
    settled,
  );

/** Where the part begins that must wait for the next block: the last line, or an open one not far before it. */
function unheld(
  bytes: Buffer,
  findings: readonly SecretFinding[],
  open: readonly number[],
): number {
  // The next block's first line can belong to the last one.
  const isWhole = bytes.at(-1) === NEWLINE;
  const lastLine = bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
  const end = isWhole ? lastLine : settledBytes(bytes, findings);
  return open.reduce((at, from) => (end - from <= MAX_HELD ? Math.min(at, from) : at), end);
}
