import type { Budget, BudgetLimits } from '../bytes/budget.ts';
import { base64Groups, type Group } from './base64-runs.ts';
import { decodedBlob, mayHoldDocument } from './blobs.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, replaced, type SecretFinding } from './finding.ts';
import type { KnownSecrets } from './known.ts';
import { settledBytes } from './line-part.ts';
import type { InLine, LinePlace, LineRule, Span, UnwrappedRule } from './line-rule.ts';
import type { Marks } from './marks.ts';
import { matches, type Pattern } from './pattern.ts';
import { pemKeys } from './pem.ts';
import { decodedWord, wordAround } from './percent.ts';
import type { TriggerPlace, TriggerRule } from './places.ts';
import { SecretBlocks } from './secret-blocks.ts';
import { TextLines } from './text-lines.ts';
import type { TriggerSearch } from './triggers.ts';
import { Unwrapped } from './unwrap.ts';

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);

interface Found {
  readonly findings: readonly SecretFinding[];
  /** Where lines begin whose meaning the next block decides. */
  readonly openFrom: readonly number[];
  /** From a line to the end of a secret on a later line: only together do they reveal it. In order. */
  readonly joined: readonly Span[];
}

/** Nothing shorter is a document with a secret in it. */
const MIN_WORD = 16;
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

/**
 * Removes secrets from text, block by block. What may continue in the next block, such as a
 * private key, is held back until that block is known.
 */
export class TextRedactor {
  readonly #means: TextMeans;
  readonly #marks: Marks;
  readonly #budget: Budget;
  readonly #effort: TextLimits['effort'];
  readonly #search: TextLimits['effort'];
  readonly #depth: number;
  readonly #blocks: SecretBlocks;
  #held: Buffer = EMPTY;
  /** Bytes of what is held that were looked at already. */
  #seen = 0;

  constructor(means: TextMeans, { budget, effort, search = effort }: TextLimits, depth = 0) {
    this.#means = means;
    this.#marks = means.marks;
    this.#budget = budget;
    this.#effort = effort;
    this.#search = search;
    this.#depth = depth;
    this.#blocks = new SecretBlocks(means.marks);
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
    const groups = base64Groups(bytes);
    const places = this.#means.triggers.find(bytes);
    const pem = pemKeys(bytes, places.offsetsOf('pem'), this.#marks, isLast);
    const known = this.#within(this.#search, bytes, () =>
      this.#means.known.find(bytes, this.#search),
    );
    const inLines = this.#within(this.#effort, bytes, () => this.#inLines(bytes, places, isLast));
    const openGroups = groups.flatMap(({ openFrom }) => openFrom ?? []);
    const open = [
      ...(pem.openFrom === undefined ? [] : [pem.openFrom]),
      ...inLines.openFrom,
      ...openGroups.map((from) => Math.max(from, pem.unendedTo)),
    ];
    // Findings with the secret's own mark come first.
    const findings = [
      ...known,
      ...pem.findings,
      ...inLines.findings,
      ...groups.flatMap((group) => this.#inBlob(bytes, group)),
    ];
    const complete = isLast
      ? bytes.length
      : undivided(unheld(bytes, findings, open), inLines.joined);
    this.#blocks.settle(complete);
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

  /** What the lines' own rules find where their triggers stand. */
  #inLines(bytes: Buffer, places: Iterable<TriggerPlace>, isLast: boolean): Found {
    const lines = new TextLines(bytes);
    const findings: SecretFinding[] = [];
    const joined: Span[] = [];
    const openFrom: number[] = [];
    /** By rule: the offset up to which it need not look again. */
    const done = new Map<TriggerRule, number>();
    let last: Span = { start: 0, end: 0 };
    let unwrapped: Unwrapped | undefined;
    for (const place of places) {
      const { offset, rule } = place;
      if (this.#effort.isSpent()) {
        findings.push({ start: offset, end: bytes.length, by: LEFT_OUT });
        break;
      }
      const isInSecret = offset >= last.start && offset < last.end;
      if (rule === 'pem' || isInSecret || offset < (done.get(rule) ?? 0)) continue;
      if (typeof rule === 'object' && 'unwrapped' in rule) {
        unwrapped ??= new Unwrapped(bytes.toString('latin1'));
        const named = this.#unwrapped(bytes, unwrapped, place, rule);
        done.set(rule, named.next);
        if (named.isOpen) openFrom.push(named.lineStart);
        joined.push(...named.joined);
        findings.push(...named.findings);
        last = named.findings.at(-1) ?? last;
        continue;
      }
      const line = lines.at(offset);
      if (rule === 'secret') {
        done.set(rule, line.end);
        const data = this.#blocks.line(line, lines, isLast);
        if (data.isOpen) openFrom.push(line.start);
        findings.push(...data.findings);
        continue;
      }
      const { next, secrets } = this.#atPlace({ line, at: offset - line.start }, rule);
      done.set(rule, line.start + next);
      for (const secret of secrets) {
        // Of a document that has been redacted, and encoded again.
        if (line.text.startsWith('<redacted:', secret.start)) continue;
        last = { start: line.start + secret.start, end: line.start + secret.end };
        const means = secret.means ?? meaning(line.text.slice(secret.start, secret.end));
        findings.push({ ...last, by: this.#marks.of(means, secret.certainty) });
      }
    }
    if (unwrapped?.openFrom !== undefined && !isLast) openFrom.push(unwrapped.openFrom);
    return { findings, openFrom, joined };
  }

  /** What is assigned to the name at a place. Each line of a value is a finding. */
  #unwrapped(
    bytes: Buffer,
    unwrapped: Unwrapped,
    { offset, length }: TriggerPlace,
    rule: UnwrappedRule,
  ) {
    const { next, secrets, isOpen } = rule.unwrapped(unwrapped.text, unwrapped.at(offset), length);
    const lineStart = bytes.lastIndexOf(NEWLINE, offset) + 1;
    const findings = secrets
      .flatMap((span) => unwrapped.linesOf(span))
      .filter(({ start }) => !bytes.subarray(start, start + MARKED.length).equals(MARKED))
      .map((span) => ({
        ...span,
        by: this.#marks.of(meaning(bytes.toString('latin1', span.start, span.end))),
      }));
    return {
      next: unwrapped.rawOf({ start: Math.max(0, next - 1), end: next }).end,
      isOpen: isOpen === true,
      lineStart,
      joined: findings
        .filter(({ start }) => bytes.subarray(offset, start).includes(NEWLINE))
        .map(({ end }) => ({ start: lineStart, end })),
      findings,
    };
  }

  #atPlace(place: LinePlace, rule: 'percent' | Pattern | LineRule): InLine {
    if (rule === 'percent') return this.#inWord(place.line.text, place.at);
    if ('find' in rule) return matches(place.line.text, place.at, rule);
    return rule.at(place, (text) => this.#inside((budget) => this.#safe(text, budget)));
  }

  #inWord(line: string, at: number): InLine {
    const word = wordAround(line, at);
    const isSecret =
      word.end - word.start >= MIN_WORD &&
      this.#inside((budget) => {
        const document = decodedWord(line.slice(word.start, word.end));
        return !budget.spend(document.length) || this.#markOf(document, budget) !== undefined;
      }) === true;
    return { next: word.end, secrets: isSecret ? [word] : [] };
  }

  #inBlob(bytes: Buffer, { runs }: Group): SecretFinding[] {
    if (!mayHoldDocument(bytes, runs)) return [];
    const text = runs.map(({ start, end }) => bytes.toString('latin1', start, end)).join('');
    const by = this.#inside((budget) => {
      const document = decodedBlob(text, budget);
      if (document === undefined) return undefined;
      return document === 'secret' ? this.#marks.of(bare(text)) : this.#markOf(document, budget);
    });
    return by === undefined ? [] : runs.map((run) => ({ ...run, by }));
  }

  /** What is found in encoded text, all levels of which have one budget. Nothing at the last level. */
  #inside<T>(search: (budget: Budget) => T): T | undefined {
    if (this.#depth >= this.#budget.limits.depth) return undefined;
    return search(this.#depth === 0 ? this.#budget.part(LINE_LIMITS) : this.#budget);
  }

  /** What a line's rule has decoded, without its secrets: undefined if there are none, empty if the budget ends. */
  #safe(text: string, budget: Budget): string | undefined {
    const document = Buffer.from(text, 'latin1');
    if (!budget.spend(document.length)) return '';
    const safe = this.#inner(budget).whole(document);
    return safe === document ? undefined : safe.toString('latin1');
  }

  #inner(budget: Budget): TextRedactor {
    const limits = { budget, effort: this.#effort, search: this.#search };
    return new TextRedactor(this.#means, limits, this.#depth + 1);
  }

  /** The mark of a document with a secret in it: the secret's own, if there is nothing else. */
  #markOf(document: Buffer, budget: Budget): string | undefined {
    const safe = this.#inner(budget).whole(document);
    if (safe === document) return undefined;
    const only = MARK.exec(safe.toString('latin1'))?.[0];
    return only?.trim() ?? this.#marks.of(document.toString('utf8'));
  }
}

/** How a mark begins: a document that has been redacted can be encoded again. */
const MARKED = Buffer.from('<redacted:');

const MARK = /^<redacted:[0-9a-f]+>\s*$/;

const bare = (base64: string) => base64.replace(/[^A-Za-z0-9+/]/g, '');

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
  const end = bytes.at(-1) === NEWLINE ? lastLine(bytes) : settledBytes(bytes, findings);
  return open.reduce((at, from) => (end - from <= MAX_HELD ? Math.min(at, from) : at), end);
}

/** Where the last line begins, which the next block's first can belong to. */
const lastLine = (bytes: Buffer) => bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
