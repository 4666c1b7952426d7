import { decodeDataUrl, isDataUrl } from '../../ignition/data-url.ts';
import { Budget } from '../bytes/budget.ts';
import { decodedBlob } from './blobs.ts';
import { isDistinctive } from './known.ts';
import type { Certainty, Marks } from './marks.ts';
import { isSecretValue, isUserAndPassword, looksRandom } from './names.ts';
import { type Redactor, redactorWith } from './redactor.ts';
import { STREAM_LIMITS } from './text.ts';

/** A config in a file of a config; deeper nobody puts a secret. */
const MAX_DEPTH = 4;
/** A longer text is no secret, but may hold some. */
const MAX_LENGTH = 8192;
/** Lines of a private key in PEM, as OpenSSL and Go write them, and as OpenSSH does. */
const KEY_LINES = /.{16,64}/g;
const OPENSSH_LINES = /.{16,70}/g;
const OPENSSH = 'b3BlbnNzaC1rZXkt';

/**
 * Finds the secrets that a host's files hold, to look for them everywhere else: they are what
 * redaction takes out of those files, and what that stands for.
 */
export class SecretsIn {
  readonly #found = new Set<string>();
  readonly #limit: number;
  readonly #redactor: Redactor;
  /** Of the file or value that is read. */
  #budget = new Budget(STREAM_LIMITS);
  /** Texts in which there may be more. */
  #documents: { text: string; depth: number }[] = [];
  #depth = 0;

  /** Not more than `limit` secrets are kept: each costs time with every line of a log. */
  constructor(limit: number) {
    this.#limit = limit;
    const marks: Marks = {
      of: (secret, certainty) => {
        this.#learn(secret.trim(), certainty);
        return '<redacted>';
      },
    };
    this.#redactor = redactorWith(marks, []);
  }

  get secrets(): string[] {
    return [...this.#found];
  }

  /** Reads one file. */
  async read(chunks: AsyncIterable<Uint8Array>, format: keyof Redactor): Promise<void> {
    this.#depth = 0;
    this.#budget = new Budget(STREAM_LIMITS);
    await drained(this.#redactor[format](chunks));
    await this.#lookInside();
  }

  /** Learns a file that is one value of a Secret, as Kubernetes mounts them. */
  async readValue(name: string, value: string): Promise<void> {
    this.#depth = 0;
    this.#budget = new Budget(STREAM_LIMITS);
    const secret = value.trim();
    this.#learn(secret, isSecretValue(name, secret) ? 'certain' : 'possible');
    await this.#lookInside();
  }

  async #lookInside(): Promise<void> {
    for (let next = this.#documents.pop(); next !== undefined; next = this.#documents.pop()) {
      this.#depth = next.depth;
      const form = /^\s*[{[]/.test(next.text) ? 'json' : 'text';
      await drained(this.#redactor[form](once(Buffer.from(next.text, 'utf8'))));
    }
  }

  #learn(secret: string, certainty: Certainty = 'certain'): void {
    if (isDataUrl(secret)) {
      this.#look(contentsOf(secret, this.#budget));
      return;
    }
    const decoded = decodedBlob(secret, this.#budget);
    if (decoded === 'secret') {
      for (const line of keyLines(secret)) this.#add(line);
      return;
    }
    if (decoded !== undefined) this.#look(decoded.toString('utf8'));
    if (isUserAndPassword(secret)) {
      const pair = Buffer.from(secret, 'base64').toString('utf8');
      this.#add(pair);
      this.#add(pair.slice(pair.indexOf(':') + 1));
    }
    if (secret.includes('\n') || /^\s*[{[]/.test(secret)) this.#look(secret);
    else if (certainty === 'certain' || looksRandom(secret)) this.#add(secret);
  }

  #look(text: string | undefined): void {
    if (text !== undefined && this.#depth < MAX_DEPTH) {
      this.#documents.push({ text, depth: this.#depth + 1 });
    }
  }

  #add(secret: string): void {
    if (this.#found.size >= this.#limit || secret.length > MAX_LENGTH) return;
    if (isDistinctive(secret)) this.#found.add(secret);
  }
}

/** The contents of an Ignition's file, which need not say that they are gzipped. */
function contentsOf(source: string, budget: Budget): string | undefined {
  try {
    const bytes = decodeDataUrl({ source });
    const text = bytes[0] === 0x1f ? decodedBlob(bytes.toString('base64'), budget) : bytes;
    return typeof text === 'string' ? undefined : text?.toString('utf8');
  } catch {
    return undefined;
  }
}

function keyLines(base64: string): string[] {
  const shape = base64.startsWith(OPENSSH) ? OPENSSH_LINES : KEY_LINES;
  const lines = [...base64.matchAll(shape)].map(([line]) => line);
  // The first line of each OpenSSH key is the same, and tells nothing.
  return lines.filter((line) => !line.startsWith(OPENSSH));
}

async function drained(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
