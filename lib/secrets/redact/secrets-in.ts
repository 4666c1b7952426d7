import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { Budget, type BudgetLimits } from '../bytes/budget.ts';
import { keyLines } from '../formats/private-keys.ts';
import { type NamedValue, type Reader, settings } from '../formats/settings.ts';
import { decodedBlob } from './blobs.ts';
import { FoundSecrets, HOST } from './found-secrets.ts';
import type { Marks } from './marks.ts';
import { isSecretValue, sensitivityOf } from './names.ts';
import { percentDecoded } from './percent.ts';
import { type RedactedStream, redactedStreams } from './redactor.ts';
import type { Certainty } from './rule.ts';
import { isNothing, isPath, isReference, isUserAndPassword, looksRandom } from './values.ts';

/** A config in a file of a config; no secrets are nested more deeply. */
const MAX_DEPTH = 4;
/** Shorter base64 has no space for a name and a secret. */
const MIN_BLOB = 24;
/** Maximum number of nested documents in a file. */
const MAX_DOCUMENTS = 5000;
/** For everything unpacked from a file: an Ignition config has hundreds of compressed files. */
const FILE_LIMITS: BudgetLimits = { bytes: 64 << 20, perByte: 0, depth: MAX_DEPTH };
/** For what is not the host's own. */
const FOREIGN_LIMITS: BudgetLimits = { ...FILE_LIMITS, bytes: 8 << 20 };
/** Characters that are not part of names, paths and addresses. */
const SYMBOL = /[!#$%^&*+=~|;<>?(){}[\]]/;

/** How to read a file. */
export interface FileKind {
  /** Reader for the specific format. */
  readonly read?: Reader;
  /** Names of values that are secrets in this file, in addition to the usual ones. */
  readonly names?: RegExp;
  /** The pod, container or user whose secrets these are; absent: the host's own. They share what room there is. */
  readonly owner?: string;
}

/**
 * Collects the secrets in a host's files so that they can be found everywhere else: everything that
 * redaction would remove from those files, its decoded form, and complete values according to the
 * files' formats.
 */
export class SecretsIn {
  readonly #found: FoundSecrets;
  readonly #redacted: () => RedactedStream;
  /** For the current file or value. */
  #budget = new Budget(FILE_LIMITS);
  #documentsLeft = MAX_DOCUMENTS;
  #depth = 0;
  /** Of the current file. */
  #owner = HOST;

  /** At most `limit` secrets are kept: each one slows down the search in every log line. */
  constructor(limit: number) {
    this.#found = new FoundSecrets(limit);
    const marks: Marks = {
      of: (secret, certainty) => {
        this.#learn(secret.trim(), certainty);
        return '<redacted>';
      },
    };
    this.#redacted = redactedStreams(marks, []);
  }

  /** Passwords and tokens in the order in which they were read, followed by lines of keys. */
  get secrets(): string[] {
    return this.#found.all;
  }

  /** Whose were left out. */
  get cut(): string[] {
    return this.#found.cut;
  }

  /**
   * Reads a file that is too large for memory.
   * @throws errors of `chunks`; at the end if not all nested contents could be searched.
   */
  async read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    this.#begin();
    const stream = this.#redacted();
    for await (const chunk of chunks) for (const _ of stream.push(chunk));
    for (const _ of stream.end());
    this.#checkAll();
  }

  /** Reads a whole file. @throws at the end if not all nested contents could be searched. */
  readText(text: string, kind: FileKind): void {
    this.#begin(kind.owner);
    this.#document(text, kind);
    this.#checkAll();
  }

  /** Reads a file that is one value of a mounted Secret. */
  readValue(name: string, value: string, owner?: string): void {
    this.#begin(owner);
    const secret = value.trim();
    this.#learn(secret, isSecretValue(name, secret) ? 'certain' : 'possible');
    this.#checkAll();
  }

  #begin(owner = HOST): void {
    this.#owner = owner;
    this.#depth = 0;
    this.#documentsLeft = MAX_DOCUMENTS;
    this.#budget = new Budget(owner === HOST ? FILE_LIMITS : FOREIGN_LIMITS);
  }

  #checkAll(): void {
    if (this.#documentsLeft < 0)
      throw new Error(`only ${MAX_DOCUMENTS} of the documents in it were searched for secrets`);
    if (this.#budget.isExhausted)
      throw new Error('what it unpacks to is too large to be searched for secrets');
  }

  #document(text: string, { read, names }: FileKind): void {
    const strings = isJson(text) ? stringsIn(text) : [];
    // Also a file in the document, and a container's `NAME=value`.
    for (const [, value] of strings) {
      if (isDataUrl(value) || isJson(value) || value.includes('\n')) this.#look(value);
    }
    const texts = strings.length === 0 ? [text] : strings.map(([, value]) => value);
    const named = [
      ...(read?.(text) ?? []),
      ...strings,
      ...texts.flatMap((each) => [...settings(each)]),
    ];
    for (const setting of named) this.#setting(setting, names);
    this.#redact(text);
  }

  /** Learns what a text shows without the format of its file. */
  #redact(text: string): void {
    const stream = this.#redacted();
    for (const _ of [...stream.push(Buffer.from(text, 'utf8')), ...stream.end()]);
  }

  /** A value is learned if its name says that it is secret; passwords in URLs always are. */
  #setting([name, value]: NamedValue, names: RegExp | undefined): void {
    if (/:\/\/.*@/.test(value)) this.#redact(value);
    if (isPath(value)) return;
    const isSecret =
      isSecretValue(name, value) ||
      names?.test(name) === true ||
      (sensitivityOf(name) === 'by-value' && looksLikePassword(value));
    if (isSecret) this.#learn(value.trim());
  }

  #learn(secret: string, certainty: Certainty = 'certain'): void {
    if (certainty === 'document' || isNothing(secret) || isReference(secret)) return;
    if (isDataUrl(secret)) {
      this.#look(secret);
      return;
    }
    const document = secret.length < MIN_BLOB ? undefined : decodedBlob(secret, this.#budget);
    if (document === 'secret' || (document === undefined && certainty === 'key')) {
      this.#found.addKey(keyLines(secret), this.#owner);
      return;
    }
    if (document !== undefined) this.#look(document.toString('utf8'));
    if (certainty === 'key') return;
    if (isUserAndPassword(secret)) {
      const pair = Buffer.from(secret, 'base64').toString('utf8');
      this.#found.add(pair, this.#owner);
      this.#found.add(pair.slice(pair.indexOf(':') + 1), this.#owner);
    }
    if (secret.includes('\n') || isJson(secret)) {
      this.#look(secret);
    } else if (certainty === 'certain' || isMadeUp(secret)) {
      this.#found.add(secret, this.#owner);
      const meant = percentDecoded(secret.replaceAll('%%', '%'));
      if (!meant.includes('\ufffd')) this.#found.add(meant, this.#owner);
    }
  }

  /** Reads a text in the document, or the contents of a data URL. */
  #look(source: string): void {
    if (this.#depth >= MAX_DEPTH) return;
    this.#documentsLeft -= 1;
    const text = isDataUrl(source) ? contentsOf(source, this.#budget) : source;
    if (this.#documentsLeft < 0 || text === undefined) return;
    this.#depth += 1;
    this.#document(text, {});
    this.#depth -= 1;
  }
}

/** The strings of a JSON document, with the names of the fields that they are in. */
function stringsIn(text: string): NamedValue[] {
  const found: NamedValue[] = [];
  const rest: [name: string, value: unknown][] = [['', parseJson(text)]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [name, value] = next;
    if (typeof value === 'string') found.push([name, value]);
    else if (Array.isArray(value)) for (const item of value) rest.push([name, item]);
    else if (isRecord(value)) for (const field of Object.entries(value)) rest.push(field);
  }
  return found;
}

/** JSON rather than the section of an INI file or a password. */
const isJson = (text: string) => /^\s*(?:\{\s*["}]|\[\s*["{[\d])/.test(text);

/** For values of a Secret, whose names can be arbitrary: random, a phrase, or with special characters. */
const isMadeUp = (value: string) =>
  looksRandom(value) || looksLikePassword(value) || (value.length < 256 && /\S\s+\S/.test(value));

/** Has special characters, and is not a URL. */
const looksLikePassword = (value: string) =>
  value.length < 256 &&
  SYMBOL.test(value) &&
  /[A-Za-z0-9]/.test(value) &&
  !/^[\w+.-]*:\/\//.test(value);

/** The contents of a file in an Ignition config; gzip need not be declared. */
function contentsOf(source: string, budget: Budget): string | undefined {
  try {
    const bytes = decodeDataUrl({ source });
    const text = bytes[0] === 0x1f ? decodedBlob(bytes.toString('base64'), budget) : bytes;
    return typeof text === 'string' ? undefined : text?.toString('utf8');
  } catch {
    return undefined;
  }
}
