import t from 'tap';
import { issueOf } from '../../../../lib/engine/console/issue.ts';
import { failureCode } from '../../../../lib/engine/console/photographed.ts';
import { readQr } from './read-qr.ts';

t.test('a decoder reads the code, the node, the volume and the version', async (t) => {
  const version = '1.4.0+1a2b3c4d5e6f';
  const lines = failureCode('site-link', { node: 'master-0', version, serial: 7 }).split('\n');
  t.equal(readQr(lines), 'FAIL SITE-LINK MASTER-0 VOLUME 7 SNO 1.4.0+1A2B3C4D5E6F');
  const before = failureCode('dns-missing', { node: 'sno.example.com', version: '1.4.0' });
  t.equal(readQr(before.split('\n')), 'FAIL DNS-MISSING SNO.EXAMPLE.COM SNO 1.4.0');
});

t.test('whatever a host is called, the code fits a screen of 80 columns', async (t) => {
  const node = `${'long-'.repeat(40)}\u001b[2J_é`;
  const lines = failureCode('x', { node, version: '1', serial: Number.MAX_SAFE_INTEGER }).split(
    '\n',
  );
  t.match(readQr(lines), /^FAIL X LONG-LONG-/);
  t.ok(lines.every((line) => line.length < 80));
  t.ok(lines.length <= 24, `${lines.length} lines`);
});

t.test('the prompt of a failed host begins with it, of another host it has none', async (t) => {
  const host = { node: 'master-0', version: '1.4.0' };
  const status = {
    schemaVersion: 1,
    version: '1',
    agent: 'bootkube',
    unit: 'x',
    updated: '',
  } as const;
  const failure = { code: 'dns-missing', kind: 'deadline', what: 'no record' } as const;
  const failed = issueOf([{ ...status, state: 'failed', exitCode: 4, failure }], undefined, host);
  const picture = failed?.text.split('\n').filter((line) => /[█▀▄]/.test(line)) ?? [];
  t.equal(readQr(picture), 'FAIL DNS-MISSING MASTER-0 SNO 1.4.0');
  t.match(failed?.text, /^\n█/);
  t.ok((failed?.text.split('\n').length ?? 0) <= 25, 'it fits the smallest screen');
  t.notMatch(issueOf([{ ...status, state: 'running' }], undefined, host)?.text, /[█▀▄]/);
});
