import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { Budget, type BudgetLimits } from '../bytes/budget.ts';
import { keyLines, privateKeys } from '../formats/private-keys.ts';
import { type NamedValue, type Reader, settings } from '../formats/settings.ts';
import { decoded, urlPasswords } from '../formats/urls.ts';
import { decodedBlob } from './blobs.ts';
import { FoundSecrets } from './found-secrets.ts';
import type { Certainty, Marks } from './marks.ts';
import { isSecretValue, sensitivityOf } from './names.ts';
import { type Redactor, redactorWith } from './redactor.ts';
import { HOST } from './shares.ts';
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
  readonly format: keyof Redactor;
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
  readonly #redactor: Redactor;
  /** For the current file or value. */
  #budget = new Budget(FILE_LIMITS);
  /** Nested texts that are still to be read. */
  #documents: { text: string; depth: number }[] = [];
  #documentsLeft = MAX_DOCUMENTS;
  /** Keys in the current file whose lines are already known. */
  #keys = new Set<string>();
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
    this.#redactor = redactorWith(marks, []);
  }

  /** Passwords and tokens in the order in which they were read, followed by lines of keys. */
  get secrets(): string[] {
    return this.#found.all;
  }

  /** Whether secrets were left out because of the limits. */
  get isCut(): boolean {
    return this.#found.isCut;
  }

  /** Whose were left out. */
  get cut(): string[] {
    return this.#found.cut;
  }

  /**
   * Reads a file that is too large for memory.
   * @throws errors of `chunks`; at the end if not all nested contents could be searched.
   */
  async read(chunks: AsyncIterable<Uint8Array>, format: keyof Redactor): Promise<void> {
    this.#begin();
    await drained(this.#redactor[format](chunks));
    await this.#lookInside();
  }

  /** Reads a whole file. @throws at the end if not all nested contents could be searched. */
  async readText(text: string, kind: FileKind): Promise<void> {
    this.#begin(kind.owner);
    await this.#document(text, kind);
    await this.#lookInside();
  }

  /** Reads a file that is one value of a mounted Secret. */
  async readValue(name: string, value: string, owner?: string): Promise<void> {
    this.#begin(owner);
    const secret = value.trim();
    this.#learn(secret, isSecretValue(name, secret) ? 'certain' : 'possible');
    await this.#lookInside();
  }

  #begin(owner = HOST): void {
    this.#owner = owner;
    this.#depth = 0;
    this.#documents = [];
    this.#keys = new Set();
    this.#documentsLeft = MAX_DOCUMENTS;
    this.#budget = new Budget(owner === HOST ? FILE_LIMITS : FOREIGN_LIMITS);
  }

  async #lookInside(): Promise<void> {
    for (let next = this.#documents.pop(); next !== undefined; next = this.#documents.pop()) {
      this.#depth = next.depth;
      const format = isJson(next.text) ? 'json' : 'text';
      await this.#document(next.text, { format });
    }
    if (this.#documentsLeft < 0)
      throw new Error(`only ${MAX_DOCUMENTS} of the documents in it were searched for secrets`);
    if (this.#budget.isExhausted)
      throw new Error('what it unpacks to is too large to be searched for secrets');
  }

  async #document(text: string, { format, read, names }: FileKind): Promise<void> {
    for (const { body, lines } of privateKeys(text)) {
      this.#keys.add(body);
      this.#found.addKey(lines, this.#owner);
    }
    if (read !== undefined) for (const setting of read(text)) this.#setting(setting, names);
    if (format === 'json') this.#strings(parseJson(text), names);
    else for (const setting of settings(text)) this.#setting(setting, names);
    await drained(this.#redactor[format](once(Buffer.from(text, 'utf8'))));
  }

  /** A value is learned if its name says that it is secret; passwords in URLs always are. */
  #setting([name, value]: NamedValue, names: RegExp | undefined): void {
    for (const password of urlPasswords(value)) this.#found.add(password, this.#owner);
    if (isPath(value)) return;
    const isSecret =
      isSecretValue(name, value) ||
      names?.test(name) === true ||
      (sensitivityOf(name) === 'by-value' && looksLikePassword(value));
    if (isSecret) this.#learn(value.trim());
  }

  /** Strings of a JSON document; files embedded in them have their lines escaped. */
  #strings(document: unknown, names: RegExp | undefined): void {
    const texts: string[] = [];
    const rest: { name: string; value: unknown }[] = [{ name: '', value: document }];
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const { name, value } = next;
      if (typeof value === 'string') {
        if (isJson(value)) this.#look(value);
        else if (value.includes('\n')) texts.push(value);
        else this.#line(name, value, names);
      } else if (Array.isArray(value)) {
        for (const item of value) rest.push({ name, value: item });
      } else if (isRecord(value)) {
        for (const [key, item] of Object.entries(value)) rest.push({ name: key, value: item });
      }
    }
    if (texts.length > 0) this.#look(texts.join('\n'));
  }

  /** A value with its key as the name, and a container's `NAME=value`. */
  #line(name: string, value: string, names: RegExp | undefined): void {
    this.#setting([name, value], names);
    for (const setting of settings(value)) this.#setting(setting, names);
  }

  #learn(secret: string, certainty: Certainty = 'certain'): void {
    if (this.#keys.has(secret) || isNothing(secret) || isReference(secret)) return;
    if (isDataUrl(secret)) {
      this.#look(contentsOf(secret, this.#budget));
      return;
    }
    const document = secret.length < MIN_BLOB ? undefined : decodedBlob(secret, this.#budget);
    if (document === 'secret') {
      this.#found.addKey(keyLines(secret), this.#owner);
      return;
    }
    if (document !== undefined) this.#look(document.toString('utf8'));
    if (isUserAndPassword(secret)) {
      const pair = Buffer.from(secret, 'base64').toString('utf8');
      this.#found.add(pair, this.#owner);
      this.#found.add(pair.slice(pair.indexOf(':') + 1), this.#owner);
    }
    if (secret.includes('\n') || isJson(secret)) {
      this.#look(secret);
    } else if (certainty === 'certain' || isMadeUp(secret)) {
      this.#found.add(secret, this.#owner);
      if (/%[0-9a-f]{2}/i.test(secret)) this.#found.add(decoded(secret), this.#owner);
    }
  }

  #look(text: string | undefined): void {
    if (text === undefined || this.#depth >= MAX_DEPTH) return;
    this.#documentsLeft -= 1;
    if (this.#documentsLeft >= 0) this.#documents.push({ text, depth: this.#depth + 1 });
  }
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

async function drained(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
