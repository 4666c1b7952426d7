import type { SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import { valuesIn } from './secret-objects.ts';
import type { TextLine, TextLines } from './text-lines.ts';
import { isNothing } from './values.ts';

/** Finds the parts of a Kubernetes Secret that is printed over many lines, as YAML or JSON. */
export const SECRET_TRIGGERS = [
  'apiversion',
  'kind: ',
  'kind": ',
  'kind" : ',
  "kind': ",
  'data:',
  'data":\n',
  "data':\n",
  'data": {',
  'data" : {',
  "data': {",
];

/** No Secret is larger in print, where something else hides its end. */
const MAX_BYTES = 1 << 16;

const PART =
  /^(?<before>.{0,400}?[\s-])??["']?(?:(?<version>apiVersion)|(?<kind>kind)|(?<data>data|stringData)(?=["']?\s?:\s{0,80}(?:\{|$)))["']?\s?:/;
const SECRET = /^["']?kind["']?\s?:\s{1,8}["']?Secret["']?,?\s*(?:#.*)?$/;
const KEY = /^[\s-]*["']?[-._A-Za-z0-9]{1,253}["']?\s?:\s{1,8}(?<value>.*)$/;
/** The data in the same line. */
const FLOW = /^[^{]{0,20}:\s{0,8}(?=\{.)/;

/** Absent where an object begins whose kind is not known yet. */
interface Kind {
  readonly column?: number;
  readonly isSecret?: boolean;
}

interface Data {
  readonly findings: readonly SecretFinding[];
  /** The kind that decides comes later than these bytes. */
  readonly isOpen: boolean;
}

/**
 * The data of Secrets in text. Programs sort an object's fields in either way: its kind stands
 * before the data or after it, in the same column.
 */
export class SecretBlocks {
  readonly #marks: Marks;
  /** The kind that holds where the block begins. */
  #before: Kind | undefined;
  /** Those met since then. */
  #kinds: (Kind & { readonly offset: number })[] = [];

  constructor(marks: Marks) {
    this.#marks = marks;
  }

  /** Told of each line in which a trigger stands, in their order. */
  line(line: TextLine, lines: TextLines, isLast: boolean): Data {
    const groups = PART.exec(line.text)?.groups;
    if (groups === undefined) return NOTHING;
    const column = groups.before?.length ?? 0;
    const offset = line.start;
    if (groups.version !== undefined) this.#kinds.push({ offset });
    if (groups.kind !== undefined) {
      this.#kinds.push({ column, isSecret: SECRET.test(line.text.slice(column)), offset });
    }
    if (groups.data === undefined) return NOTHING;
    return this.#data({ line, column, name: groups.data }, lines, isLast);
  }

  /** The lines up to there are done with; those after it will be told of again, from offset 0. */
  settle(complete: number): void {
    this.#before = this.#kinds.findLast(({ offset }) => offset < complete) ?? this.#before;
    this.#kinds = [];
  }

  #data(
    { line, column, name }: { line: TextLine; column: number; name: string },
    lines: TextLines,
    isLast: boolean,
  ): Data {
    const values: TextLine[] = [];
    const kind = this.#kinds.at(-1) ?? this.#before;
    let isSecret = kind?.column === column ? kind.isSecret : undefined;
    let isInside = true;
    for (let next = lines.after(line); ; next = lines.after(next)) {
      if (next === undefined) {
        // The next block has more of the data, or the kind.
        if (!isLast) return { findings: [], isOpen: true };
        break;
      }
      if (next.start - line.start > MAX_BYTES) break;
      const rest = next.text.slice(column);
      // The next object: its kind is not known yet either.
      if (/^\s*$|^---/.test(rest) || rest.replace(/["']/, '').startsWith(name)) break;
      const isDeeper = /^[\s}]/.test(rest);
      if (isDeeper && isInside) values.push(next);
      if (!isDeeper) isInside = false;
      if (!isInside && isSecret !== undefined) break;
      if (SECRET.test(rest)) isSecret = true;
      else if (/^["']?(?:kind|apiVersion)["']?\s?:/.test(rest)) isSecret ??= false;
    }
    if (isSecret !== true) return NOTHING;
    return {
      findings: [
        ...this.#flow(line, column, name === 'data'),
        ...values.flatMap((value) => this.#value(value, column, name === 'data')),
      ],
      isOpen: false,
    };
  }

  /** A mapping that begins on the line of its name. */
  #flow({ start, text }: TextLine, column: number, isEncoded: boolean): SecretFinding[] {
    const length = FLOW.exec(text.slice(column))?.[0].length;
    if (length === undefined) return [];
    return valuesIn(text, { start: column + length, isEncoded }).map((value) => ({
      start: start + value.start,
      end: start + value.end,
      by: this.#marks.of(value.means, value.certainty),
    }));
  }

  /** All that stands after a key, or on a line without one. */
  #value({ start, text }: TextLine, column: number, isEncoded: boolean): SecretFinding[] {
    const rest = text.slice(column);
    const value = (KEY.exec(rest)?.groups?.value ?? rest.trimStart()).trimEnd();
    const bare = value.replace(/^["']|["']?,?$/g, '');
    if (/^[|>{}\][,+-]*$/.test(bare) || isNothing(bare)) return [];
    const from = start + text.lastIndexOf(bare);
    const secret = isEncoded ? Buffer.from(bare, 'base64').toString('utf8') : bare;
    return [{ start: from, end: from + bare.length, by: this.#marks.of(secret, 'possible') }];
  }
}

const NOTHING: Data = { findings: [], isOpen: false };
