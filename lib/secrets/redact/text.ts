import type { Budget, BudgetLimits } from '../bytes/budget.ts';
import { base64Texts } from './base64-runs.ts';
import { isBareSecret } from './data-urls.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, replaced, type SecretFinding } from './finding.ts';
import type { KnownSecrets } from './known.ts';
import { gapBefore } from './lines.ts';
import type { Marks } from './marks.ts';
import { numberTexts } from './number-texts.ts';
import { percentTexts } from './percent.ts';
import type { EncodedText, RuleFindings, SecretRule, Span } from './rule.ts';
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

/** Held back of a long line: a name whose value may follow. */
const CONTEXT = 1 << 14;
/** The most that is expected between a name and its value. */
const NEAR = 600;

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
  readonly findings: SecretFinding[];
  /** From a line to the end of a secret on a later line: only together do they reveal it; the next block can continue one. */
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

  /** What was held back; nothing comes after it. */
  end(): Buffer {
    return this.whole(this.#held);
  }

  /** Redacts a complete text; returns the same bytes if there is nothing to hide. */
  whole(bytes: Buffer): Buffer {
    return replaced(bytes, this.#scan(bytes, true).findings);
  }

  #scan(bytes: Buffer, isLast: boolean): { findings: SecretFinding[]; complete: number } {
    const { effort, search = effort } = this.#limits;
    const known = this.#within(search, bytes, () => this.#means.known.find(bytes, search));
    const found = this.#within(effort, bytes, () => this.#byRules(bytes));
    // Findings with the secret's own mark come first.
    const findings = [...known, ...found.findings];
    // One by one: of hostile text, there can be more than memory.
    for (const texts of [base64Texts, numberTexts, percentTexts]) {
      for (const text of texts(bytes)) {
        for (const finding of this.#inEncoded(text)) findings.push(finding);
        if (text.openFrom !== undefined) found.joined.push(openedAt(text.openFrom));
      }
    }
    const complete = isLast ? bytes.length : undivided(settledEnd(bytes, findings), found.joined);
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
    const found: InBlock = { findings: [], joined: [] };
    /** By rule: the offset up to which it need not look again. */
    const done = new Map<SecretRule, number>();
    let last: Span = { start: 0, end: 0 };
    let line = NO_LINE;
    let unwrapped: Unwrapped | undefined;
    for (const place of this.#means.triggers.find(bytes)) {
      const { offset, rule } = place;
      if (this.#limits.effort.isSpent()) {
        found.findings.push({ start: offset, end: bytes.length, by: LEFT_OUT });
        break;
      }
      if ((offset >= last.start && offset < last.end) || offset < (done.get(rule) ?? 0)) continue;
      let inBytes: RuleFindings;
      if (rule.inText !== undefined) {
        unwrapped ??= new Unwrapped(bytes.toString('latin1'));
        inBytes = inUnwrapped(unwrapped, place);
      } else {
        if (offset >= line.end) line = lineAt(bytes, offset);
        inBytes = inLine(line, place);
      }
      done.set(rule, inBytes.next);
      last = this.#add(found, bytes, place, inBytes) ?? last;
    }
    return found;
  }

  /** Takes over what is found at a place; the last of it. */
  #add(found: InBlock, bytes: Buffer, { offset }: TriggerPlace, { secrets, isOpen }: RuleFindings) {
    if (secrets.length === 0 && isOpen !== true) return undefined;
    const lineStart = bytes.lastIndexOf(NEWLINE, offset) + 1;
    if (isOpen === true) found.joined.push(openedAt(lineStart));
    let last: SecretFinding | undefined;
    for (const secret of secrets) {
      const { start, end, certainty } = secret;
      // A document that has been redacted can be encoded again.
      if (bytes.subarray(start, start + MARKED.length).equals(MARKED)) continue;
      const means = secret.means ?? bytes.toString('utf8', start, end);
      last = { start, end, by: this.#means.marks.of(means, certainty) };
      found.findings.push(last);
      if (bytes.subarray(offset, start).includes(NEWLINE)) {
        found.joined.push({ start: lineStart, end });
      }
    }
    return last;
  }

  #inEncoded({ runs, meanings, inFile }: EncodedText): SecretFinding[] {
    const by = this.#inside((budget) => {
      for (const document of meanings(budget)) {
        if (typeof document === 'string') return this.#means.marks.of(document, 'key');
        const only = document.toString('utf8').trim();
        if (inFile !== undefined && isBareSecret(only)) return this.#means.marks.of(only);
        const limits = { ...this.#limits, budget };
        const safe = new TextRedactor(this.#means, limits, this.#depth + 1).whole(document);
        if (safe !== document) return inFile?.(safe) ?? this.#markOfAll(document, safe);
      }
      return undefined;
    });
    return by === undefined ? [] : runs.map((run) => ({ ...run, by }));
  }

  /** What is found in encoded text, all levels of which have one budget. Nothing at the last level. */
  #inside<T>(search: (budget: Budget) => T): T | undefined {
    const { budget } = this.#limits;
    if (this.#depth >= budget.limits.depth) return undefined;
    return search(this.#depth === 0 ? budget.part(LINE_LIMITS) : budget);
  }

  /** The secret's own mark, if there is nothing else. */
  #markOfAll(document: Buffer, safe: Buffer): string {
    const only = ONLY_MARK.exec(safe.toString('latin1'))?.groups?.mark;
    return only ?? this.#means.marks.of(document.toString('utf8'), 'document');
  }
}

const NO_LINE = { start: 0, end: -1, text: '' };

function lineAt(bytes: Buffer, offset: number): typeof NO_LINE {
  const start = bytes.lastIndexOf(NEWLINE, offset) + 1;
  const newline = bytes.indexOf(NEWLINE, start);
  const end = newline === -1 ? bytes.length : newline;
  return { start, end, text: bytes.toString('latin1', start, end) };
}

/** What a rule finds in a line, where it is in the block. */
function inLine({ start, text }: typeof NO_LINE, { offset, rule }: TriggerPlace): RuleFindings {
  const found = rule.inLine?.(text, offset - start) ?? { next: 0, secrets: [] };
  const secrets = found.secrets.map((secret) => ({
    ...secret,
    start: start + secret.start,
    end: start + secret.end,
  }));
  return { next: start + found.next, secrets };
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

/** A line whose meaning the next block decides. */
const openedAt = (start: number): Span => ({ start, end: Number.POSITIVE_INFINITY });

/** An offset, not after `settled`, that divides no span, unless a chain of spans is too long. */
const undivided = (settled: number, spans: readonly Span[]) =>
  spans
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (at, { start, end }) => (start < at && at < end && settled - start <= MAX_HELD ? start : at),
      settled,
    );

/** Where the part begins that waits for the next block: the last line, or of a longer one what a value may follow. */
function settledEnd(bytes: Buffer, findings: readonly SecretFinding[]): number {
  // The next block's first line can belong to the last one.
  if (bytes.at(-1) === NEWLINE) return bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
  const named = findings.map(({ start, end }) => ({ start: start - NEAR, end }));
  return gapBefore(bytes, undivided(gapBefore(bytes, bytes.length - CONTEXT), named));
}
