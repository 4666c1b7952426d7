import { parseJson } from '../../lib/base/json.ts';
import type { ArchivedFile } from '../../report/archive/read-archive.ts';
import {
  failedOutcome,
  type GatherOutcome,
  gatherRecordSchema,
} from '../../report/gather-record.ts';
import { isReportInput } from '../../report/inputs.ts';
import type { TextFiles } from '../../report/text-view.ts';

/** Every bundle of gather, or of the scripts that it replaces, has at least one of these. */
const MARK =
  /^(?:gather\.(?:json|log)|report\.(?:json|html)|SUMMARY\.txt)$|^(?:bootstrap|control-plane\/[^/]+)\/(?:journals|services|steps|containers)\//;
const RECORD = 'gather.json';
/** Twice gather's own limit for the largest of these files. */
const MAX_FILE_BYTES = 32 << 20;
const MAX_BYTES = 256 << 20;

/** The contents of gather.json that the analysis needs. */
const recordSchema = gatherRecordSchema
  .unwrap()
  .pick({ begunAt: true, interrupted: true, encrypted: true, sources: true });

/** The files of a bundle that the analysis reads, in memory and of limited size. */
export class LoadedBundle implements TextFiles {
  readonly #files = new Map<string, Buffer>();
  readonly #notLoaded: GatherOutcome[] = [];
  #bytes = 0;
  #hasMark = false;
  #newestMs: number | undefined;

  /** Whether it has any sign of being a log bundle. */
  get isBundle(): boolean {
    return this.#hasMark;
  }

  paths(): Iterable<string> {
    return [...this.#files.keys()].filter((path) => path !== RECORD);
  }

  text(path: string): string | undefined {
    return this.#files.get(path)?.toString('utf8');
  }

  /** Loads the file if the analysis reads it. Rejects if its contents cannot be read. */
  async take(file: ArchivedFile): Promise<void> {
    const { name, size, modified, content } = file;
    this.#hasMark ||= MARK.test(name);
    if (name !== RECORD && !isReportInput(name)) return;
    if (size > MAX_FILE_BYTES || this.#bytes + size > MAX_BYTES) {
      this.miss(name, `not analysed: too large, ${size} bytes`);
      return;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) if (chunk instanceof Uint8Array) chunks.push(chunk);
    this.#bytes += size;
    this.#files.set(name, Buffer.concat(chunks));
    const modifiedMs = modified?.getTime() ?? Number.NaN;
    if (modifiedMs > (this.#newestMs ?? 0)) this.#newestMs = modifiedMs;
  }

  /** Records something that the analysis must do without. */
  miss(path: string, failure: string): void {
    this.#notLoaded.push(failedOutcome(path, failure));
  }

  /** When it was collected, and what could not be collected there or loaded here. */
  facts() {
    const record = recordSchema.safeParse(parseJson(this.text(RECORD))).data;
    if (record === undefined) {
      this.miss(
        RECORD,
        'missing or damaged: other sources that could not be collected are unknown',
      );
    }
    return {
      // Without the record, the newest file tells the time of the collection.
      atMs: record === undefined ? (this.#newestMs ?? Date.now()) : Date.parse(record.begunAt),
      isInterrupted: typeof record?.interrupted === 'string',
      isEncrypted: record?.encrypted,
      outcomes: [...(record?.sources ?? []), ...this.#notLoaded],
      /** How many of the outcomes, counted from the end, concern loading. */
      missed: this.#notLoaded.length,
    };
  }
}
