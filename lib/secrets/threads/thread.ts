/** The thread that redacts, see threaded-redactor.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../../base/errors/failure.ts';
import { collectGarbage } from '../../host/own-memory.ts';
import { marksWith } from '../redact/marks.ts';
import { redactedStreams } from '../redact/redactor.ts';
import type { RedactionAnswer, RedactionRequest, ThreadData } from './messages.ts';
import { Pieces, PieceWriter } from './pieces.ts';

const { key, known }: ThreadData = workerData;
const begun = redactedStreams(marksWith(key), known);
const pieces = new Pieces();
const streams = new Map<number, ReturnType<typeof newStream>>();

const newStream = () => ({ redacted: begun(), writer: new PieceWriter(pieces) });

/** What can be told after a request. Copies: most parts are of larger buffers, which cannot be handed over. */
function* answered(request: RedactionRequest) {
  const { redacted, writer } = streams.get(request.stream) ?? newStream();
  streams.set(request.stream, { redacted, writer });
  const isPush = request.does === 'push';
  for (const part of isPush ? redacted.push(request.bytes) : redacted.end()) {
    yield* writer.write(part);
  }
  if (isPush) pieces.giveBack(request.bytes);
  else yield* writer.rest();
}

parentPort?.on('message', (request: RedactionRequest) => {
  const { stream, does } = request;
  try {
    const parts = does === 'cancel' ? [] : [...answered(request)];
    answer(
      { parts },
      parts.map(({ buffer }) => buffer),
    );
  } catch (error) {
    answer({ failure: describeError(error) }, []);
  }
  if (does !== 'push') streams.delete(stream);
  collectGarbage();
});

function answer(message: RedactionAnswer, transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}
