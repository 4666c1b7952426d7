import { text } from 'node:stream/consumers';
import t from 'tap';
import { collect } from '../../../agents/gather/collecting/collect.ts';
import { memoryStorage } from '../../../agents/gather/collecting/storage.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import type { Redaction } from '../../../lib/secrets/redact/redactor.ts';
import { StreamLost } from '../../../lib/secrets/threads/redaction-thread.ts';
import type { GatherOutcome } from '../../../report/gather-record.ts';
import { sourceOf } from './synthetic.ts';

/** Redacts nothing; the thread of each stream that `fails` says something of ends after its first chunk. */
async function collected(fails: (content: string, attempt: number) => Error | undefined) {
  const attempts = new Map<string, number>();
  const redaction: Redaction = async function* (chunks) {
    for await (const chunk of chunks) {
      const content = Buffer.from(chunk).toString();
      const attempt = (attempts.get(content) ?? 0) + 1;
      attempts.set(content, attempt);
      yield chunk;
      const error = fails(content, attempt);
      if (error !== undefined) throw error;
    }
  };
  const files: Record<string, string> = {};
  const outcomes: Record<string, GatherOutcome> = {};
  const room = { left: 1 << 20 };
  const sources = ['a.log', 'b.log', 'c.log'].map((path) =>
    sourceOf({ path, does: 'text', text: `${path}\n` }),
  );
  await collect(sources, {
    host: {
      paths: hostPaths('/nowhere'),
      settings: defaultSettings,
      stage: 'installed',
      folder: '',
      work: '/nowhere',
    },
    redactor: { text: redaction },
    place: { storage: memoryStorage, room },
    concurrency: 2,
    signal: new AbortController().signal,
    take: async (source, spooled) => {
      files[source.path] = await text(spooled.text());
      await spooled.remove();
    },
    ended: (outcome) => {
      outcomes[outcome.path] = outcome;
    },
    isFatal: () => true,
  });
  return { files, outcomes, attempts, room };
}

t.test('a file that is lost with the thread of another one is read again, whole', async (t) => {
  const { files, outcomes, room } = await collected((content, attempt) =>
    content.startsWith('b') && attempt < 4 ? new StreamLost('another') : undefined,
  );
  t.strictSame(files, { 'a.log': 'a.log\n', 'b.log': 'b.log\n', 'c.log': 'c.log\n' });
  t.equal(outcomes['b.log']?.failure, undefined);
  t.equal(outcomes['b.log']?.bytes, 6, 'counted once');
  t.equal(room.left, 1 << 20, 'what was left of the attempts is given back');
});

t.test('the file at which a thread ends is not read again', async (t) => {
  const { files, outcomes, attempts } = await collected((content) =>
    content.startsWith('b') ? new Error('out of memory') : undefined,
  );
  t.strictSame(files, { 'a.log': 'a.log\n', 'b.log': 'b.log\n', 'c.log': 'c.log\n' });
  t.equal(outcomes['b.log']?.failure, 'out of memory');
  t.equal(outcomes['a.log']?.failure, undefined);
  t.equal(attempts.get('b.log\n'), 1);
});
