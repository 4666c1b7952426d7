import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { logTail, wholeLog } from '../../../../agents/gather/sources/container-log.ts';
import { read, testHost } from './host.ts';

const line = (text: string) => `2026-01-02T03:04:05Z stdout F ${text}\n`;
const plain = (text: string) => `2026-01-02T03:04:05Z ${text}\n`;
const LOG = '/var/log/pods/ns_pod_uid/etcd/0.log';

t.test('a log with its rotated files, oldest first', async (t) => {
  const { host, paths, write } = testHost(t);
  write(LOG, line('newest'));
  write(`${LOG}.20260101-000001.gz`, gzipSync(line('oldest')));
  write(`${LOG}.20260101-000002`, line('middle'));
  write(`${LOG}.tmp`, line('half'));
  write('/var/log/pods/ns_pod_uid/etcd/1.log', line('another'));
  const { text, failure } = await read(wholeLog('x', paths.at(LOG)), host);
  t.equal(text, ['oldest', 'middle', 'newest'].map(plain).join(''));
  t.equal(failure, undefined);
});

t.test('the end of a log begins with a line', async (t) => {
  const { host, paths, write } = testHost(t);
  write(LOG, Array.from({ length: 20_000 }, (_, index) => line(`number ${index}`)).join(''));
  const { text } = await read(logTail('x', paths.at(LOG)), host);
  t.ok(text.length > 40_000 && text.length < 64 << 10, `${text.length} bytes`);
  t.match(text, /^2026-01-02T03:04:05Z number \d+\n/);
  t.ok(text.endsWith(plain('number 19999')));
});

t.test('links out of the log folder are not followed', async (t) => {
  const { host, paths, write } = testHost(t);
  write('/etc/kubernetes/pki/0.log', 'private');
  const folder = paths.at('/var/log/pods/ns_pod_uid/link');
  mkdirSync(dirname(folder), { recursive: true });
  symlinkSync(paths.at('/etc/kubernetes/pki'), folder);
  t.match(await read(wholeLog('x', `${folder}/0.log`), host), {
    text: '',
    failure: /log folder .* is not used/,
  });
  const real = paths.at('/var/log/pods/ns_pod_uid/real');
  mkdirSync(real);
  symlinkSync(paths.at('/etc/kubernetes/pki/0.log'), `${real}/0.log`);
  t.match(await read(wholeLog('x', `${real}/0.log`), host), { text: '', failure: /ELOOP/ });
});

t.test('a missing log; a damaged one, which does not hide newer ones', async (t) => {
  const { host, paths, write } = testHost(t);
  mkdirSync(dirname(paths.at(LOG)), { recursive: true });
  t.match(await read(wholeLog('x', paths.at(LOG)), host), { failure: /no log found at/ });
  write(LOG, line('newest'));
  write(`${LOG}.20260101-000001.gz`, 'torn');
  t.match(await read(wholeLog('x', paths.at(LOG)), host), {
    text: plain('newest'),
    failure: /header/,
  });
});
