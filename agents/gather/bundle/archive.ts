import { describeError } from '../../../lib/base/errors/failure.ts';
import { collectGarbage } from '../../../lib/host/own-memory.ts';
import { LEVEL, type Spooled } from '../collecting/spool.ts';
import type { GatherOutput } from '../entrance/output.ts';
import { type BundleSink, isFull, LeftOut } from './bundle-sink.ts';
import { MEMBER_BYTES, memberOf, storedMember } from './gzip-members.ts';
import { TAR_END, tarHeader, tarPadding } from './tar-header.ts';

/** Files below this size are compressed together with their neighbours. */
const SMALL_BYTES = 64 * 1024;
/** Allowance for the compressed header, the padding and the framing of stored blocks. */
const ENTRY_BYTES = 1024;
const LOOK_BYTES = 4 << 20;

/**
 * A gzipped tar archive, written as files arrive. It is a sequence of gzip members; those of
 * spooled files are copied unchanged, so nothing is compressed twice. A truncated archive is
 * readable up to the point of truncation.
 */
export class BundleArchive implements BundleSink {
  readonly #root: string;
  readonly #output: GatherOutput;
  readonly #mtime: Date;
  #bytes = 0;
  #isFull = false;
  #unlooked = 0;
  /** Pending bytes, to be compressed together. */
  #plain: Uint8Array[] = [];
  #plainBytes = 0;
  /** Serializes additions: a tar archive takes one file at a time. */
  #last: Promise<void> = Promise.resolve();

  /** `root`: the top-level folder of the archive, such as `log-bundle-20260101120000`. */
  constructor(root: string, output: GatherOutput, mtime: Date) {
    this.#root = root;
    this.#output = output;
    this.#mtime = mtime;
  }

  get bytes(): number {
    return this.#bytes;
  }

  sizeOf(spooled: Spooled): number {
    return spooled.storedBytes + ENTRY_BYTES;
  }

  addText(path: string, text: string): Promise<void> {
    const bytes = Buffer.from(text, 'utf8');
    return this.#tryAgain(() => this.#entry(path, bytes.length, () => this.#plainly(bytes)));
  }

  addSpooled(path: string, spooled: Spooled, gzipped: boolean): Promise<void> {
    return this.#next(async () => {
      if (this.#isFull) throw new LeftOut('no space left where the bundle is written');
      if (gzipped) {
        await this.#entry(path, spooled.storedBytes, () => this.#stored(spooled));
      } else {
        await this.#entry(path, spooled.plainBytes, () => this.#spooled(spooled));
      }
    });
  }

  async close(): Promise<void> {
    await this.#tryAgain(async () => {
      await this.#plainly(TAR_END);
      await this.#flush();
    });
    await this.#output.end?.();
  }

  #next(add: () => Promise<void>): Promise<void> {
    const mine = this.#last.catch(() => undefined).then(() => this.#wholly(add));
    this.#last = mine;
    return mine;
  }

  /** Rolls back a file that cannot be added completely, where the output allows it. */
  async #wholly(add: () => Promise<void>): Promise<void> {
    const [bytes, plain, plainBytes] = [this.#bytes, [...this.#plain], this.#plainBytes];
    try {
      await add();
    } catch (error) {
      if (error instanceof LeftOut || this.#output.takeBack === undefined) throw error;
      await this.#output.takeBack(bytes);
      [this.#bytes, this.#plain, this.#plainBytes] = [bytes, plain, plainBytes];
      this.#isFull ||= isFull(error);
      throw new LeftOut(describeError(error));
    }
  }

  /** Retries a file that explains the rest: space is reserved for it. */
  async #tryAgain(add: () => Promise<void>): Promise<void> {
    try {
      await this.#next(add);
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      await this.#next(add);
    }
  }

  async #entry(path: string, size: number, contents: () => Promise<void>): Promise<void> {
    const name = `${this.#root}/${path}`;
    await this.#plainly(await tarHeader({ name, size, mode: 0o600, mtime: this.#mtime }));
    await contents();
    await this.#plainly(tarPadding(size));
  }

  async #spooled(spooled: Spooled): Promise<void> {
    if (spooled.plainBytes <= SMALL_BYTES) {
      for await (const chunk of spooled.text()) await this.#plainly(chunk);
      return;
    }
    await this.#plainly(Buffer.from(spooled.head));
    await this.#flush();
    for await (const members of spooled.members()) await this.#write(members);
    await this.#plainly(Buffer.from(spooled.tail));
  }

  /** Stores bytes that are already compressed as the contents of a file. */
  async #stored(spooled: Spooled): Promise<void> {
    await this.#flush();
    for await (const chunk of spooled.members()) {
      for (const part of storedMember(chunk)) await this.#write(part);
    }
  }

  async #plainly(bytes: Uint8Array): Promise<void> {
    this.#plain.push(bytes);
    this.#plainBytes += bytes.length;
    if (this.#plainBytes >= MEMBER_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#plainBytes === 0) return;
    const { bytes } = await memberOf(Buffer.concat(this.#plain), LEVEL);
    await this.#write(bytes);
    this.#plain = [];
    this.#plainBytes = 0;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#output.write(bytes);
    this.#bytes += bytes.length;
    this.#unlooked += bytes.length;
    if (this.#unlooked < LOOK_BYTES) return;
    this.#unlooked = 0;
    // Data that only passes through is a lot of garbage in a short time.
    collectGarbage();
  }
}
