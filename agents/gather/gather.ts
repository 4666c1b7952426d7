import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describeError } from '../../lib/base/errors/failure.ts';
import { inOneLine } from '../../lib/base/printable.ts';
import { keepMemorySmall } from '../../lib/host/own-memory.ts';
import type { Redactor } from '../../lib/secrets/redact/redactor.ts';
import { ThreadedRedactor } from '../../lib/secrets/threads/threaded-redactor.ts';
import { failedOutcome, type GatherOutcome } from '../../report/gather-record.ts';
import { analyze, reportFiles } from '../../report/report.ts';
import { summaryText } from '../../report/summary.ts';
import { textView } from '../../report/text-view.ts';
import { type BundleSink, LeftOut } from './bundle/bundle-sink.ts';
import { Packer } from './bundle/packer.ts';
import { Limit, timeOf } from './collecting/abort.ts';
import { collectBulk } from './collecting/bulk.ts';
import { collect } from './collecting/collect.ts';
import { listSources } from './collecting/listing.ts';
import type { Spooled, SpoolPlace } from './collecting/spool.ts';
import type { GatherHost } from './gather-host.ts';
import { hostSecrets } from './host-secrets/host-secrets.ts';
import { gatherLog } from './outcomes.ts';
import type { GatherPhase, Source, SourceGroup } from './source.ts';

export interface GatherRequest {
  readonly id: string;
  /** In collection order. */
  readonly groups: readonly SourceGroup[];
  /** `--only`, for gather.json; empty: all. */
  readonly only: ReadonlySet<string>;
  readonly sink: BundleSink;
  /** Maximum size of the bundle as written. */
  readonly limitBytes: number;
  /** Whether the sink encrypts it. */
  readonly isEncrypted: boolean;
  /** Where files are kept until they are packed. */
  readonly place: SpoolPlace;
  /** Failures known beforehand, such as masters other than this host. */
  readonly failures: readonly GatherOutcome[];
  /** Stops the collection; what is there by then is packed. */
  readonly signal: AbortSignal;
  /** Reports the start of each phase in one sentence. */
  phase(text: string): void;
  /** Reports progress; called often. */
  progress(done: number, of: number, path: string): void;
}

export interface GatherResult {
  readonly failures: readonly GatherOutcome[];
  /** Why it ended early, if it did. */
  readonly interrupted: string | undefined;
  /** The report in a few lines for a terminal. */
  readonly summary: string;
}

/**
 * Collects what the groups list, redacts it, evaluates it and writes the bundle: the report
 * first, then the files that it is based on, then everything else. Rejects only if no bundle can
 * be written at all.
 */
export async function gather(request: GatherRequest, host: GatherHost): Promise<GatherResult> {
  using _ = keepMemorySmall();
  return await new Gathering(request, host).run();
}

type Diagnosis = Map<string, { readonly source: Source; readonly spooled: Spooled }>;

class Gathering {
  readonly #request: GatherRequest;
  readonly #host: GatherHost;
  readonly #begun = new Date();
  readonly #outcomes = new Map<string, GatherOutcome>();
  readonly #packer: Packer;
  #expected = 0;

  constructor(request: GatherRequest, host: GatherHost) {
    this.#request = request;
    this.#host = host;
    this.#packer = new Packer(request.sink, request.limitBytes);
  }

  async run(): Promise<GatherResult> {
    const { sink, groups, failures, signal, phase } = this.#request;
    phase('Looking for sources on this host');
    const [known, listing] = await Promise.all([
      this.#hostSecrets(),
      listSources(groups, this.#host, signal),
    ]);
    using redactor = new ThreadedRedactor(randomBytes(32), known);
    for (const failure of [...failures, ...listing.failures]) this.#ended(failure);
    this.#expected = this.#outcomes.size + listing.sources.length;

    const small = of('diagnosis', listing.sources);
    phase(`Collecting the input of the report: ${small.length} sources`);
    const diagnosis = await this.#diagnosis(small, redactor);
    phase('Writing the report');
    const summary = await this.#report(diagnosis);
    await this.#packDiagnosis(diagnosis);

    const large = of('bulk', listing.sources);
    phase(`Collecting everything else: ${large.length} sources`);
    await collectBulk(large, this.#packer, {
      ...this.#collecting(redactor, signal),
      concurrency: this.#host.settings.gatherBulkConcurrency,
    });
    phase('Closing the bundle');
    await this.#log(redactor);
    await sink.close();
    return {
      failures: this.#outcomesInOrder().filter(({ failure }) => failure !== undefined),
      interrupted: this.#interrupted,
      summary,
    };
  }

  /** Even without the values of the host's own secrets it still matches their names and shapes. */
  async #hostSecrets(): Promise<string[]> {
    const { signal } = this.#request;
    const time = timeOf("the host's secrets", this.#host.settings.gatherSecretsMs);
    using limit = new Limit([signal], time);
    const failed = (path: string, failure: string) =>
      this.#ended(failedOutcome(`secrets of ${path}`, failure));
    return await hostSecrets(this.#host, limit.signal, failed);
  }

  #collecting(redactor: Redactor, signal: AbortSignal) {
    const { place, progress } = this.#request;
    return {
      host: this.#host,
      redactor,
      place,
      signal,
      ended: (outcome: GatherOutcome) => {
        this.#ended(outcome);
        progress(this.#outcomes.size, this.#expected, outcome.path);
      },
    };
  }

  /** The small files that the report is based on, kept until it is written. */
  async #diagnosis(sources: readonly Source[], redactor: Redactor): Promise<Diagnosis> {
    const { gatherDiagnosisMs, gatherConcurrency } = this.#host.settings;
    const time = timeOf('the input of the report', gatherDiagnosisMs);
    using limit = new Limit([this.#request.signal], time);
    const diagnosis: Diagnosis = new Map();
    await collect(sources, {
      ...this.#collecting(redactor, limit.signal),
      concurrency: gatherConcurrency,
      take: async (source, spooled) => void diagnosis.set(source.path, { source, spooled }),
      isFatal: () => false,
    });
    return diagnosis;
  }

  async #report(diagnosis: Diagnosis): Promise<string> {
    try {
      // Decompressed on each call: holding all files at once would take a lot of memory.
      const text = (path: string) => diagnosis.get(path)?.spooled.textSync();
      const view = textView(this.#begun.getTime(), { paths: () => diagnosis.keys(), text });
      const report = analyze(view, {
        outcomes: this.#outcomesInOrder(),
        isInterrupted: this.#interrupted !== undefined,
        isEncrypted: this.#request.isEncrypted,
      });
      for (const { path, contents } of reportFiles(report)) await this.#addText(path, contents);
      return summaryText(report);
    } catch (error) {
      const failure = describeError(error);
      this.#ended(failedOutcome('report.html', failure));
      return `There is no report: ${inOneLine(failure)}\n`;
    }
  }

  async #packDiagnosis(diagnosis: Diagnosis): Promise<void> {
    for (const { source, spooled } of diagnosis.values()) {
      try {
        await this.#packer.add(source, spooled);
      } catch (error) {
        await spooled.remove();
        if (!(error instanceof LeftOut)) throw error;
        const known = this.#outcomes.get(source.path);
        if (known !== undefined) this.#ended({ ...known, bytes: 0, failure: error.message });
      }
    }
  }

  async #log(redactor: Redactor): Promise<void> {
    const { id, only, isEncrypted } = this.#request;
    const { stage, sinceMs } = this.#host;
    const files = gatherLog({
      id,
      stage,
      only,
      sinceMs,
      hostName: hostname(),
      begun: this.#begun,
      ended: new Date(),
      interrupted: this.#interrupted,
      isEncrypted,
      outcomes: this.#outcomesInOrder(),
    });
    for (const { path, contents } of files) {
      // What was collected is worth more than the record of it.
      const text = await redacted(redactor, contents).catch((error: unknown) => {
        this.#ended(failedOutcome(path, describeError(error)));
      });
      if (text !== undefined) await this.#addText(path, text);
    }
  }

  /** Explains the rest of the bundle, which is still useful without it if there is no space. */
  async #addText(path: string, contents: string): Promise<void> {
    try {
      await this.#request.sink.addText(path, contents);
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      this.#ended(failedOutcome(path, error.message));
    }
  }

  get #interrupted(): string | undefined {
    const { signal } = this.#request;
    return signal.aborted ? inOneLine(describeError(signal.reason)) : undefined;
  }

  #ended(outcome: GatherOutcome): void {
    this.#outcomes.set(outcome.path, outcome);
  }

  #outcomesInOrder(): readonly GatherOutcome[] {
    return [...this.#outcomes.values()];
  }
}

const of = (phase: GatherPhase, sources: readonly Source[]) =>
  sources.filter((source) => source.phase === phase);

const redacted = (redactor: Redactor, contents: string): Promise<string> =>
  text(redactor.text(Readable.from([Buffer.from(contents)])));
