import type { Encrypter } from 'age-encryption';
import type { GatherOutput } from '../entrance/output.ts';

/**
 * Encrypts an archive with age as it is written. Nothing that was written can be taken back. A truncated output can
 * be read up to the last complete chunk of 64 KiB.
 */
export class EncryptedOutput implements GatherOutput {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  /** Settles when everything that was encrypted is written. */
  readonly #written: Promise<void>;

  private constructor(writer: WritableStreamDefaultWriter<Uint8Array>, written: Promise<void>) {
    this.#writer = writer;
    this.#written = written;
  }

  static async create(encrypter: Encrypter, output: GatherOutput): Promise<EncryptedOutput> {
    const passage = new TransformStream<Uint8Array, Uint8Array>();
    const writer = passage.writable.getWriter();
    // A failure reaches the caller through the next call.
    writer.closed.catch(() => undefined);
    const encrypted = await encrypter.encrypt(passage.readable);
    const written = copy(encrypted, output).catch(async (error: unknown) => {
      await writer.abort(error).catch(() => undefined);
      throw error;
    });
    written.catch(() => undefined);
    return new EncryptedOutput(writer, written);
  }

  async write(bytes: Uint8Array): Promise<void> {
    // A copy: it is encrypted later than the caller may use its memory again.
    await this.#writer.write(Uint8Array.from(bytes));
  }

  async end(): Promise<void> {
    await this.#writer.close();
    await this.#written;
  }
}

async function copy(encrypted: ReadableStream<Uint8Array>, output: GatherOutput): Promise<void> {
  for await (const chunk of encrypted) await output.write(chunk);
}
