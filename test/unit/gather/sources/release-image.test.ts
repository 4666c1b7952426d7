import t from 'tap';
import { releaseImageEntries } from '../../../../agents/gather/sources/release-image.ts';

const at = (second: number) => `2026-01-31T12:00:0${second}Z`;
const start = { timestamp: at(0), phase: 'service start' };
const begins = (second: number, stage: string) => ({
  timestamp: at(second),
  phase: 'stage start',
  stage,
});
const ends = (second: number, stage: string, errorMessage?: string) => ({
  timestamp: at(second),
  phase: 'stage end',
  stage,
  ...(errorMessage === undefined ? { result: 'success' } : { result: 'failure', errorMessage }),
});

t.test('an imported payload is recorded as a pulled release image', async (t) => {
  const entries = [start, begins(1, 'payload'), ends(2, 'payload'), begins(3, 'render')];
  t.same(releaseImageEntries(entries), [
    start,
    begins(1, 'pull-release-image'),
    ends(2, 'pull-release-image'),
    { timestamp: at(2), phase: 'service end', result: 'success' },
  ]);
});

t.test('a failed payload is recorded as a release image that could not be pulled', async (t) => {
  const entries = [start, begins(1, 'payload'), ends(2, 'payload', 'etcd.tar: wrong SHA-256')];
  t.match(releaseImageEntries(entries).at(-1), {
    phase: 'service end',
    result: 'failure',
    errorMessage: 'etcd.tar: wrong SHA-256',
  });
  const mended = [...entries, start, begins(3, 'payload'), ends(4, 'payload')];
  t.match(releaseImageEntries(mended).at(-1), { phase: 'service end', result: 'success' });
});

t.test('failures before the payload are in the record of bootkube', async (t) => {
  const entries = [start, begins(1, 'preflight'), ends(2, 'preflight', 'no DNS')];
  t.same(releaseImageEntries(entries), [
    start,
    { timestamp: at(0), phase: 'service end', result: 'success' },
  ]);
  t.same(releaseImageEntries([]), []);
});
